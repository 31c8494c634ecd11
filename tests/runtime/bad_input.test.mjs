// Whatever is sent: never a 5xx, always a problem with a code, and with its fields where it is a document.
import assert from "node:assert/strict";
import { request } from "node:http";
import { after, before, describe, test } from "node:test";
import { startWorld } from "../support/api.mjs";

/** The same numbers every time: splitmix32. */
function generator(seed) {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x9e3779b9) >>> 0;
    let z = state;
    z = Math.imul(z ^ (z >>> 16), 0x21f0aaad);
    z = Math.imul(z ^ (z >>> 15), 0x735a2d97);
    return ((z ^ (z >>> 15)) >>> 0) / 2 ** 32;
  };
  const below = (n) => Math.floor(next() * n);
  return { below, pick: (list) => list[below(list.length)], chance: (p) => next() < p };
}

const zoo = [
  null, true, false, 0, -1, 1, 1.5, 1e308, -1e308, 2 ** 53, 2 ** 63, "", " ", "a", "\u0000", "\u202e", "\ud83d", "😀", "名", "a\nb", "../../etc", "<script>", "{{params}}", "1e9", "NaN", "true",
  [], [[]], [null], {}, { a: 1 }, { kind: "http" }, "x".repeat(300), "9".repeat(40), "0s", "1s", "-1s", "999999999d", "1h30m", "2026-02-30T00:00:00Z", "2026-11-29T14:00:00Z", "9999-12-31T23:59:59Z",
  "* * * * *", "0 0 31 2 *", "0 0 0 31 2 ?", "*/0 * * * *", "61 * * * *", "L L L L L", "0 0 0 ? * 6#2?", "@reboot", "H * * * *", "1-1-1 * * * *", ",,, * * * *", "* * * * * * * *",
  "Europe/Nowhere", "UTC+25", "http://", "https://exa mple.com", "https://example.com/".padEnd(3000, "x"), "skip", "queue", "SUCCESS", "ENABLED", 300, [300, "900ms"], ["TIMED_OUT"], { policy: "skip" }, [{ days: ["SAT"] }], [{ from: 1 }],
];
const fields = [
  "jobId", "name", "description", "owner", "labels", "cron", "dialect", "timeZone", "timezone", "every", "anchor", "at", "after", "startAt", "endAt", "jitterMs", "blackouts", "executor", "pool", "routeStrategy", "routeKey",
  "timeoutMs", "deadlineMs", "warnAfterMs", "retryTimes", "retryDelays", "retryOn", "misfire", "overlap", "queueLimit", "callbackUrl", "callbackApp", "appId", "callbackPreset", "nmae", "__proto__", "constructor", "",
];
const inner = ["kind", "url", "method", "headers", "body", "expectedStatus", "mode", "urll"];

/** A document near a good one: the more wrong the further. */
function fuzzed({ below, pick, chance }, url, n) {
  const document = { name: `case ${n}`, executor: chance(0.5) ? url : { url } };
  for (let i = below(5); i > 0; i -= 1) {
    const value = chance(0.1) ? Array.from({ length: below(30) }, () => pick(zoo)) : pick(zoo);
    if (chance(0.2) && typeof document.executor === "object" && document.executor) document.executor[pick(inner)] = value;
    else Object.defineProperty(document, pick(fields), { value, enumerable: true, configurable: true, writable: true });
  }
  return { ...document, jobId: chance(0.3) && typeof document.jobId === "string" ? document.jobId : `fuzz-${n}`, status: "PAUSED" };
}

/** Sends spaces until the server answers or closes; gives up, as a failure, at 64 MiB. */
function endless(url, headers) {
  return new Promise((resolve, reject) => {
    const call = request(url, { method: "POST", headers });
    let left = 1024;
    const more = () => {
      while ((left -= 1) > 0) if (!call.write(Buffer.alloc(65_536, 0x20))) return void call.once("drain", more);
      call.destroy(new Error("64 MiB were taken"));
    };
    call.on("response", (response) => {
      resolve({ status: response.statusCode });
      response.resume();
      call.destroy();
    });
    call.on("error", (error) => (["ECONNRESET", "EPIPE"].includes(error.code) ? resolve({ cut: error.code }) : reject(error)));
    more();
  });
}

describe("bad input", { concurrency: true }, () => {
  let world, api, receiver;
  before(async () => {
    world = await startWorld();
    ({ api, receiver } = world);
  });
  after(() => world.stop());

  const json = { "content-type": "application/json" };

  /** Asserts that an answer is a refusal in good form. */
  function assertProblem(answer, what) {
    assert.ok(answer.status >= 400 && answer.status < 500, `${what} -> ${answer.status} ${answer.text.slice(0, 300)}`);
    assert.match(answer.headers.get("content-type"), /^application\/problem\+json/, what);
    const { code, type, title, status, detail, requestId, errors } = answer.json;
    assert.match(code, /^[a-z_]+$/, what);
    assert.deepEqual([type, status], [`urn:cronwright:problem:${code}`, answer.status], what);
    assert.ok(title && detail && requestId, what);
    // Nothing of the inside: no path, no SQL, no stack.
    assert.ok(!/\/src\/|\.rs:\d|SQLITE|D1_ERROR|panicked|wasm/i.test(answer.text), `${what}: ${answer.text}`);
    if (status === 422) assert.ok(errors?.length > 0, `${what}: no field is named`);
    for (const error of errors ?? []) assert.ok(error.field && error.code && error.detail, `${what}: ${JSON.stringify(error)}`);
    return answer.json;
  }

  test("500 fuzzed documents are judged alike by validation and creation, field by field", { timeout: 120_000 }, async (t) => {
    const random = generator(20261129);
    const counts = { good: 0, bad: 0 };
    const one = async (n) => {
      const raw = JSON.stringify(fuzzed(random, receiver.url("/fuzz"), n));
      const [checked, created] = await Promise.all([api.call("POST", "/api/v1/jobs/validate", { raw, headers: json }), api.call("POST", "/api/v1/jobs", { raw, headers: json })]);
      if (checked.status === 200 && checked.json.valid) {
        counts.good += 1;
        // An app or another job that is not there is found only when it is saved.
        if (created.status !== 201) assert.match(JSON.stringify(assertProblem(created, raw)), /app_unknown|job_unknown|after_cycle|job_exists/, raw);
        return;
      }
      counts.bad += 1;
      const problem = assertProblem(created, raw);
      if (checked.status !== 200) return void assert.equal(assertProblem(checked, raw).code, problem.code);
      assert.ok(checked.json.errors.length > 0, raw);
      assert.deepEqual(problem.errors.map((error) => [error.field, error.code]), checked.json.errors.map((error) => [error.field, error.code]), raw);
    };
    for (let n = 0; n < 500; n += 10) await Promise.all(Array.from({ length: 10 }, (_, i) => one(n + i)));
    t.diagnostic(`${counts.good} documents were good, ${counts.bad} bad`);
    assert.ok(counts.good > 20 && counts.bad > 200, JSON.stringify(counts));
  });

  test("JSON with bytes changed, cut or doubled is malformed or judged, never more", async () => {
    const { below, pick } = generator(7);
    const good = Buffer.from(JSON.stringify({ jobId: "bytes", name: "bytes 名", every: "1h", executor: receiver.url("/b"), labels: { a: "b" }, status: "PAUSED" }));
    for (let n = 0; n < 150; n += 1) {
      const raw = Buffer.from(good);
      for (let i = below(4); i >= 0; i -= 1) raw[below(raw.length)] = pick([0, 0x22, 0x5c, 0x7b, 0x7d, 0xff, 0xc0, 0xed, 0x80, 0x20, 0x39, 0x2d]);
      const sent = pick([raw, raw.subarray(0, below(raw.length)), Buffer.concat([raw, raw])]);
      const answer = await api.call("POST", "/api/v1/jobs/validate", { raw: sent, headers: json });
      if (answer.status !== 200) assertProblem(answer, sent.toString("latin1"));
    }
  });

  test("what is no JSON object is malformed, and what is too deep or too large is not read", async () => {
    const name = "x".repeat(70 * 1024);
    const cases = [
      ["", "malformed_json"], ["null", "malformed_json"], ["[]", "malformed_json"], ["1", "malformed_json"], ['"x"', "malformed_json"], ["{", "malformed_json"], ["\ufeff{}", "malformed_json"],
      [Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]), "malformed_json"], [Buffer.from('{"name":"\xed\xa0\x80"}', "latin1"), "malformed_json"], ['{"name":"\\ud800"}', "malformed_json"],
      ["[".repeat(33), "too_deep"], [`{"a":${"[".repeat(30_000)}`, "too_deep"], [`${'{"a":'.repeat(5_000)}1${"}".repeat(5_000)}`, "too_deep"], [JSON.stringify({ name }), "too_large"], [" ".repeat(64 * 1024 + 1), "too_large"],
    ];
    for (const path of ["/api/v1/jobs", "/api/v1/jobs/validate"]) {
      for (const [raw, code] of cases) {
        const answer = await api.call("POST", path, { raw, headers: json });
        assert.equal(assertProblem(answer, `${path} ${String(raw).slice(0, 40)}`).code, code, String(raw).slice(0, 40));
      }
    }
  });

  test("a body without an end is cut off at the limit, and others are served", async () => {
    for (const path of ["/api/v1/jobs", "/api/v1/tokens", "/api/v1/setup"]) {
      const end = await endless(new URL(path, api.url), { ...json, authorization: `Bearer ${api.token}` });
      // Whether the answer or the close of the connection is seen first is the network's choice.
      assert.ok(end.cut || [413, 409].includes(end.status), `${path} -> ${JSON.stringify(end)}`);
      assert.equal((await api.call("GET", "/api/v1/jobs?limit=1")).status, 200, path);
    }
  });

  test("nothing but JSON is taken, by its name", async () => {
    const raw = JSON.stringify({ name: "typed", executor: receiver.url("/t") });
    for (const type of ["text/plain", "application/xml", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "application/jsonp", "application/json-seq", "x", "application/problem+json"]) {
      const answer = await api.call("POST", "/api/v1/jobs/validate", { raw, headers: { "content-type": type } });
      assert.equal(assertProblem(answer, type).code, "unsupported_media_type", type);
    }
    for (const type of ["application/json", "application/json; charset=utf-8", "Application/JSON"]) {
      assert.equal((await api.call("POST", "/api/v1/jobs/validate", { raw, headers: { "content-type": type } })).status, 200, type);
    }
    assert.equal((await api.call("POST", "/api/v1/jobs/validate", { raw: Buffer.from(raw) })).json.code, "unsupported_media_type");
  });

  test("queries are checked by name and value, and long or odd ones are searched for without harm", async () => {
    const bad = ["limit=0", "limit=201", "limit=abc", "limit=-1", "limit=1e9", "limit=1&limit=2", "status=NOPE", "unknown=1", `q=${"x".repeat(101)}`, "cursor=%00", `label=${"x".repeat(300)}`, "%00=1"];
    for (const query of bad) {
      const problem = assertProblem(await api.call("GET", `/api/v1/jobs?${query}`), query);
      assert.equal(problem.code, "invalid_parameter", query);
      assert.ok(problem.errors?.[0].field, query);
    }
    // D1 takes patterns of 50 bytes at most, and these are longer, or full of its signs.
    for (const query of ["q=" + encodeURIComponent("名".repeat(40)), "q=" + "%25_".repeat(20), "q='%20OR%201=1--", "label=a%3D%27", "label=%3D", "label==", "q=", "cursor=zzz", "status="]) {
      const answer = await api.call("GET", `/api/v1/jobs?${query}`);
      if (answer.status !== 200) assertProblem(answer, query);
    }
    for (const query of ["status=NOPE", "cursor=abc", "cursor=run_1", "limit=0", "status=SUCCESS,,"]) {
      const answer = await api.call("GET", `/api/v1/runs?${query}`);
      if (answer.status !== 200) assertProblem(answer, query);
    }
    assertProblem(await api.call("GET", "/api/v1/audit?cursor=99999999999999999999"), "audit cursor");
  });

  test("ids that cannot be are not found, wherever they stand", async () => {
    for (const id of ["x".repeat(65), "x".repeat(400), "-", "_", "run_", "run_0_0_0_v0", "run_999999_1_mx000000_v1", "run_zz_zz_zzzzzzzzzzzzzz_v9999999999", "run_1_1_-1_v1", "..a", "a.b", "null", "undefined", "0"]) {
      for (const path of [`jobs/${id}`, `jobs/${id}/runs`, `runs/${id}`, `runs/${id}/ledger`, `runs/${id}/output`, `tasks/${id}`, `endpoints/${id}`, `endpoints/${id}/deliveries`]) {
        assertProblem(await api.call("GET", `/api/v1/${path}`), path);
      }
      for (const path of [`runs/${id}/cancel`, `runs/${id}/replay`, `endpoints/${id}/close-breaker`, `endpoints/${id}/deliveries/${id}/replay`, `apps/${id}/rotate`]) {
        assertProblem(await api.call("POST", `/api/v1/${path}`), path);
      }
    }
  });

  test("small requests name the field that is wrong", async () => {
    await api.create({ jobId: "small", executor: receiver.url("/small") });
    const cases = [
      ["POST", "/api/v1/tokens", { name: "", role: "viewer" }, "name"], ["POST", "/api/v1/tokens", { name: "x", role: "root" }, "role"], ["POST", "/api/v1/tokens", { name: "x", role: "viewer", expiresInDays: 366 }, "expiresInDays"],
      ["POST", "/api/v1/tokens", { name: "x", role: "viewer", jobs: ["a b"] }, "jobs[0]"], ["POST", "/api/v1/tokens", { name: 5, role: "viewer" }, "name"], ["POST", "/api/v1/tokens", { name: "x", role: "viewer", rule: 1 }, "rule"],
      ["POST", "/api/v1/apps", { appId: "a b" }, "appId"], ["POST", "/api/v1/apps", {}, "appId"], ["PATCH", "/api/v1/jobs/small", { status: "OFF" }, "status"], ["PATCH", "/api/v1/jobs/small", {}, "status"],
      ["POST", "/api/v1/jobs/small/runs", { overlap: "maybe" }, "overlap"], ["POST", "/api/v1/jobs/small/runs", { params: "x".repeat(20_000) }, "params"], ["POST", "/api/v1/jobs/small/runs", { parms: 1 }, "parms"],
      ["POST", "/api/v1/jobs/preview", { cron: "61 * * * *" }, "cron"], ["POST", "/api/v1/jobs/preview", { cron: "* * * * *", count: 0 }, "count"], ["POST", "/api/v1/system/rebuild", { cursor: "x" }, "cursor"], ["POST", "/api/v1/system/rebuild", { shards: 0 }, "shards"],
    ];
    for (const [method, path, body, field] of cases) {
      const problem = assertProblem(await api.call(method, path, { body }), `${path} ${JSON.stringify(body).slice(0, 80)}`);
      assert.equal(problem.errors?.[0].field, field, JSON.stringify(problem));
    }
    for (const headers of [{ "if-match": "abc" }, { "if-match": '"-1"' }, { "if-match": "99999999999999" }]) assertProblem(await api.call("DELETE", "/api/v1/jobs/small", { headers }), JSON.stringify(headers));
    assertProblem(await api.call("POST", "/api/v1/jobs/small/runs", { headers: { "idempotency-key": "k".repeat(256) } }), "a long key");
    for (const wait of ["26s", "1m", "x", "-1s", "99999999"]) assertProblem(await api.call("POST", `/api/v1/jobs/small/runs?wait=${wait}`), wait);
    assert.equal((await api.runs("small")).length, 0);
  });
});
