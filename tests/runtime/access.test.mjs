// Who may do what: set-up, roles, tokens limited to jobs, sessions.
import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { after, before, describe, test } from "node:test";
import { Api, setUpCode, startWorld } from "../support/api.mjs";
import { openapi } from "../support/contract.mjs";
import { startRuntime, testSecret } from "../support/runtime.mjs";

/** The least role for each operation, said once more: a route that is opened by a slip shows here. */
const least = {
  anyone: "setUp getHealth getOpenapi",
  viewer:
    "listJobs getJob previewSchedule validateJob listJobRuns getTask listRuns getRun getRunLedger getRunOutput listApps listEndpoints getEndpoint listDeliveries getMetrics",
  operator:
    "createJob replaceJob setJobStatus deleteJob runJob cancelRun replayRun completeRun reportProgress closeBreaker replayDelivery replayDeadLetters",
  admin: "createApp rotateApp retireAppKey listTokens createToken revokeToken listAudit rebuild",
};
const roles = ["viewer", "operator", "admin"];
const operations = Object.entries(openapi.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, { operationId }]) => ({ id: operationId, method: method.toUpperCase(), path })),
);
const roleOf = (id) => Object.keys(least).find((role) => least[role].split(" ").includes(id));
/** A path with ids of nothing, or of what is given. */
const filled = (path, ids = {}) => path.replace(/\{(\w+)\}/g, (_, name) => ids[name] ?? { scheduleId: "run_1_1_mx000000_v1" }[name] ?? `no-${name}`);

test("the table of this test names every operation once", () => {
  const named = Object.values(least).join(" ").split(" ").sort();
  assert.deepEqual(named, operations.map((one) => one.id).sort());
});

describe("access", { concurrency: true }, () => {
  let world, api, receiver, tokens;
  before(async () => {
    world = await startWorld();
    ({ api, receiver } = world);
    tokens = { none: new Api(api.url), viewer: await api.newToken("viewer"), operator: await api.newToken("operator"), admin: await api.newToken("admin") };
  });
  after(() => world.stop());

  test("each operation is open to its least role and those above it, and to nobody else", async () => {
    for (const { id, method, path } of operations) {
      const need = roleOf(id);
      for (const [who, caller] of Object.entries(tokens)) {
        const answer = await caller.call(method, filled(path));
        const what = `${who}: ${method} ${path} -> ${answer.status} ${answer.text.slice(0, 200)}`;
        assert.ok(answer.status < 500, what);
        if (answer.status >= 400) assert.equal(answer.json?.status, answer.status, what);
        const open = need === "anyone" || roles.indexOf(who) >= roles.indexOf(need);
        if (open) assert.ok(![401, 403].includes(answer.status), what);
        else assert.equal(answer.json.code, who === "none" ? "token_missing" : "role_missing", what);
      }
    }
  });

  test("wrong tokens are refused with 401 on every operation that takes one", async () => {
    const good = tokens.viewer.token;
    const flipped = good.slice(0, -3) + (good.at(-3) === "A" ? "B" : "A") + good.slice(-2);
    const wrong = ["Bearer x", "Bearer", "Bearer ", `Basic ${btoa(`a:${good}`)}`, good, `Bearer ${good}x`, `Bearer ${good.slice(0, -1)}`, `Bearer ${flipped}`,
      `Bearer ${good.toUpperCase()}`, `Bearer ${good.replace("cw_api_", "cw_session_")}`, "Bearer undefined", "Bearer null", `Bearer ${"A".repeat(5000)}`];
    for (const authorization of wrong) {
      const answer = await tokens.none.call("GET", "/api/v1/jobs", { headers: { authorization } });
      assert.deepEqual([answer.status, answer.json.code], [401, "token_invalid"], authorization.slice(0, 60));
      assert.match(answer.headers.get("www-authenticate"), /^Bearer/);
    }
    for (const { id, method, path } of operations) {
      if (roleOf(id) === "anyone") continue;
      const answer = await tokens.none.call(method, filled(path), { headers: { authorization: wrong[7] } });
      assert.equal(answer.json.code, "token_invalid", `${method} ${path}`);
    }
    // Never in the address, where logs would keep it.
    const inQuery = await tokens.none.call("GET", `/api/v1/jobs?token=${good}`);
    assert.ok([400, 401].includes(inQuery.status));
  });

  test("a revoked token opens nothing, and the last administrator's stays", async () => {
    const gone = await api.newToken("operator");
    await gone.ok("GET", "/api/v1/jobs");
    await api.ok("DELETE", `/api/v1/tokens/${gone.tokenId}`);
    await gone.refused("token_invalid", "GET", "/api/v1/jobs");
    const listed = (await api.ok("GET", "/api/v1/tokens")).items;
    assert.ok(listed.find((one) => one.tokenId === gone.tokenId).revokedAt);
    assert.ok(!JSON.stringify(listed).includes(gone.token));
    await api.refused("token_not_found", "DELETE", "/api/v1/tokens/tok_0000000000");
  });

  test("a token limited to jobs sees and does nothing about any other", async () => {
    receiver.plan("/hidden", { delayMs: 200 });
    for (const jobId of ["mine", "hidden"]) await api.create({ jobId, executor: { url: receiver.url(`/${jobId}`), headers: { "X-Key": "secret" } } });
    const hidden = await api.runNow("hidden", { wait: "10s" });
    const scoped = await api.newToken("operator", ["mine", "new"]);
    const run = await scoped.runNow("mine", { wait: "10s" });
    assert.equal((await scoped.run(run.scheduleId)).jobId, "mine");
    const ids = { jobId: "hidden", scheduleId: hidden.scheduleId };
    for (const { id, method, path } of operations) {
      if (roleOf(id) === "anyone" || ["listJobs", "listRuns", "previewSchedule", "validateJob", "createJob"].includes(id)) continue;
      const body = { replaceJob: { name: "x", executor: receiver.url("/x") }, setJobStatus: { status: "PAUSED" }, completeRun: { status: "SUCCESS" }, reportProgress: { percent: 1 } }[id];
      const answer = await scoped.call(method, filled(path, ids), { body });
      const expected = path.includes("jobId") ? "job_not_found" : path.startsWith("/api/v1/runs/") ? "run_not_found" : "role_missing";
      assert.equal(answer.json?.code, expected, `${method} ${path} -> ${answer.text.slice(0, 200)}`);
    }
    for (const path of ["/api/v1/jobs?limit=200", "/api/v1/runs?limit=200"]) {
      const { items } = await scoped.ok("GET", path);
      assert.deepEqual(items.filter((item) => item.jobId !== "mine"), [], path);
    }
    const body = { name: "x", executor: receiver.url("/x") };
    await scoped.refused("role_missing", "POST", "/api/v1/jobs", { body: { ...body, jobId: "foreign" } });
    await scoped.refused("role_missing", "POST", "/api/v1/jobs", { body });
    await scoped.refused("invalid_document", "POST", "/api/v1/jobs", { body: { ...body, jobId: "new", after: "hidden" } });
    await scoped.create({ ...body, jobId: "new" });
    assert.equal((await api.job("hidden")).revision, 1);
  });

  test("a viewer does not see the values of headers", async () => {
    await api.create({ jobId: "headers", executor: { url: receiver.url("/headers"), headers: { Authorization: "Bearer canary-7f3a" } } });
    for (const path of ["/api/v1/jobs/headers", "/api/v1/jobs?q=headers"]) {
      assert.ok(!(await tokens.viewer.call("GET", path)).text.includes("canary-7f3a"), path);
    }
    assert.match((await tokens.operator.call("GET", "/api/v1/jobs/headers")).text, /canary-7f3a/);
  });

  test("a session is signed in for, changes things only from its own pages, and ends with its token", async () => {
    const person = await api.newToken("operator");
    const form = (token, headers) => fetch(`${api.url}/sign-in`, { method: "POST", redirect: "manual", body: new URLSearchParams({ token }), headers });
    assert.equal((await form("cw_api_wrong")).status, 401);
    assert.equal((await form(person.token, { origin: "https://evil.example" })).status, 403);
    const signedIn = await form(person.token, { cookie: "__Host-cronwright=planted" });
    assert.equal(signedIn.status, 303);
    const setCookie = signedIn.headers.get("set-cookie");
    assert.match(setCookie, /^__Host-cronwright=cw_session_\S+; Path=\/; Secure; HttpOnly; SameSite=Strict/);
    const cookie = setCookie.split(";")[0];
    const browser = new Api(api.url);
    await browser.ok("GET", "/api/v1/jobs", { headers: { cookie } });
    const home = await fetch(api.url, { headers: { cookie } });
    assert.equal(home.status, 200);
    assert.match(home.headers.get("content-security-policy"), /default-src 'none'/);
    const create = { body: { jobId: "by-session", name: "x", executor: receiver.url("/x") } };
    for (const headers of [{}, { origin: "https://evil.example" }, { origin: api.url, "sec-fetch-site": "cross-site" }, { "sec-fetch-site": "same-site" }]) {
      await browser.refused("cross_site", "POST", "/api/v1/jobs", { ...create, headers: { cookie, ...headers } });
    }
    await browser.ok("POST", "/api/v1/jobs", { ...create, headers: { cookie, origin: api.url } });
    // Nothing but JSON is taken, so no foreign form can speak for the browser.
    const plain = await browser.call("POST", "/api/v1/jobs", { raw: "{}", headers: { cookie, origin: api.url, "content-type": "text/plain" } });
    assert.equal(plain.status, 415);
    await api.ok("DELETE", `/api/v1/tokens/${person.tokenId}`);
    await browser.refused("token_missing", "GET", "/api/v1/jobs", { headers: { cookie } });
    assert.equal((await fetch(api.url, { redirect: "manual" })).headers.get("location"), "/sign-in");
  });

  test("every change is in the audit with who made it", async () => {
    const job = { jobId: "audited", name: "audited", executor: receiver.url("/audited") };
    await tokens.operator.create(job);
    await tokens.operator.setStatus("audited", "PAUSED");
    await tokens.operator.ok("PUT", "/api/v1/jobs/audited", { body: job });
    await tokens.operator.runNow("audited", { wait: "10s" });
    await tokens.operator.ok("DELETE", "/api/v1/jobs/audited");
    const { items } = await api.ok("GET", "/api/v1/audit?limit=200");
    const actions = items.filter((row) => row.object === "audited" || row.detail.jobId === "audited").map((row) => row.action);
    assert.deepEqual(actions.reverse(), ["createJob", "setJobStatus", "replaceJob", "runJob", "deleteJob"]);
    assert.ok(items.every((row) => row.actor && row.requestId));
  });
});

test("set-up takes the one-time code alone, and of fifty at once exactly one wins", async (t) => {
  const runtime = await startRuntime();
  t.after(() => runtime.stop());
  const api = new Api(runtime.url);
  const attempt = (code) => api.call("POST", "/api/v1/setup", { body: { code, name: "first" } });
  const past = setUpCode(testSecret, Date.now() - 1000);
  const signIn = createHmac("sha256", testSecret).update(`sign-in-code.v1.${Date.now() + 60_000}`).digest("hex");
  const tooLong = setUpCode(testSecret, Date.now() + 365 * 86_400_000);
  for (const code of ["", "x", past, tooLong, setUpCode("another secret that is long enough, really 1!"), `${Date.now() + 60_000}.${signIn}`, setUpCode().replace(/.$/, "g")]) {
    assert.equal((await attempt(code)).json.code, "code_invalid", code);
  }
  await api.refused("token_missing", "GET", "/api/v1/jobs");
  const code = setUpCode();
  const answers = await Promise.all(Array.from({ length: 50 }, () => attempt(code)));
  const statuses = Object.fromEntries(Map.groupBy(answers, (answer) => answer.status).entries().map(([status, all]) => [status, all.length]));
  assert.deepEqual(statuses, { 201: 1, 409: 49 });
  assert.equal((await attempt(setUpCode())).json.code, "already_set_up");
  const first = api.as(answers.find((answer) => answer.status === 201).json.text);
  const [{ tokenId, role }] = (await first.ok("GET", "/api/v1/tokens")).items;
  assert.equal(role, "admin");
  await first.refused("last_admin", "DELETE", `/api/v1/tokens/${tokenId}`);
});

test("without a usable secret every route answers 503 and names the setting", async () => {
  for (const [secret, code] of [[null, "setting_missing"], ["too short", "setting_bad"], ["changeme".repeat(8), "setting_bad"], ["0".repeat(64), "setting_bad"]]) {
    const runtime = await startRuntime({ secret });
    try {
      const api = new Api(runtime.url);
      const pages = ["/", "/api", "/sign-in", "/assets/app.css", "/nothing"].map((path) => ({ method: "GET", path }));
      for (const { method, path } of secret === null ? [...operations, ...pages] : [...operations.slice(0, 2), ...pages.slice(0, 1)]) {
        const problem = await api.refused(code, method, filled(path));
        assert.deepEqual([problem.status, problem.setting], [503, "CRONWRIGHT_SECRET"], `${method} ${path}`);
        assert.ok(!secret || !problem.detail.includes(secret));
      }
    } finally {
      await runtime.stop();
    }
  }
});
