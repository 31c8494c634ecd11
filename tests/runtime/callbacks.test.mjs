// Results are pushed, signed, in order, and again until they are taken; the job is never run again for it.
import assert from "node:assert/strict";
import { createHmac } from "node:crypto";
import { after, before, describe, test } from "node:test";
import { Webhook } from "standardwebhooks";
import { startWorld, until } from "../support/api.mjs";
import { startReceiver } from "../support/receiver.mjs";

/** The scheme of the articles, as their receivers check it: nothing here is ours. */
function verifyArticles(appSecret, request, name = "x-signature") {
  const timestamp = request.headers["x-timestamp"];
  const nonce = request.headers["x-nonce"];
  if (!/^\d{13}$/.test(timestamp)) throw new Error("timestamp");
  if (!/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(nonce)) throw new Error("nonce");
  if (Math.abs(Date.now() - Number(timestamp)) > 5 * 60_000) throw new Error("stale");
  const hmac = createHmac("sha256", appSecret);
  hmac.update(request.body);
  hmac.update(timestamp);
  hmac.update(nonce);
  if (hmac.digest("hex") !== request.headers[name]) throw new Error("signature");
  return JSON.parse(request.body);
}

describe("callbacks", { concurrency: true }, () => {
  let world, api, receiver;
  before(async () => {
    world = await startWorld();
    ({ api, receiver } = world);
  });
  after(() => world.stop());

  const newApp = async (appId) => (await api.ok("POST", "/api/v1/apps", { body: { appId } })).secret;
  /** A job whose results go to `/cb-<id>` of the receiver, in the name of an app of its own. */
  async function reporting(jobId, answers, document = {}) {
    const secret = document.callbackApp ? undefined : await newApp(jobId);
    const callbackUrl = receiver.plan(`/cb-${jobId}`, ...[answers].flat());
    await api.create({ jobId, executor: receiver.url(`/${jobId}`), callbackUrl, callbackApp: jobId, ...document });
    return { secret, at: `/cb-${jobId}` };
  }
  const settled = (run, state) => api.settled(run.scheduleId, 100_000, (one) => one.callback === state);
  const endpointOf = (url) => until(`the endpoint of ${url}`, async () => {
    const found = (await api.ok("GET", "/api/v1/endpoints?limit=200")).items.find((one) => one.url === url);
    return found && api.ok("GET", `/api/v1/endpoints/${found.endpointId}`);
  });
  const deliveriesOf = async (id, query = "") => (await api.ok("GET", `/api/v1/endpoints/${id}/deliveries${query}`)).items;
  const gaps = (times) => times.slice(1).map((time, i) => time - times[i]);
  const near = (ms, wanted, slack = 900) => assert.ok(ms >= wanted - 100 && ms <= wanted + slack, `${ms} ms instead of ${wanted}`);

  test("a result verifies with the standardwebhooks package and with the articles' scheme", async () => {
    const { secret, at } = await reporting("verified", 200, { executor: { url: receiver.url("/verified"), body: { a: 1 } } });
    receiver.plan("/verified", { status: 200, body: 'said "ok" 好' });
    const run = await api.runNow("verified", { wait: "10s" });
    const request = await receiver.waitFor(at);
    const body = new Webhook(secret).verify(request.body, request.headers);
    assert.deepEqual(verifyArticles(secret, request), body);
    assert.throws(() => new Webhook(secret).verify(`${request.text} `, request.headers), /signature/i);
    assert.throws(() => verifyArticles(`${secret}x`, request), /signature/);
    assert.equal(request.headers["x-app-id"], "verified");
    assert.equal(request.headers["webhook-id"], run.scheduleId);
    assert.equal(request.headers["x-schedule-id"], run.scheduleId);
    assert.equal(request.method, "POST");
    assert.match(request.headers["content-type"], /^application\/json/);
    const { jobId, scheduleId, seq, status, plannedAt, startedAt, endedAt, attempt, errorCode, summary, fence } = body;
    assert.deepEqual(
      { jobId, scheduleId, seq, status, plannedAt, startedAt, endedAt, attempt, errorCode: errorCode ?? undefined, summary, fence },
      { jobId: "verified", scheduleId: run.scheduleId, seq: 1, status: "SUCCESS", plannedAt: run.plannedAt, startedAt: run.startedAt, endedAt: run.endedAt, attempt: 1, errorCode: undefined, summary: 'said "ok" 好', fence: run.fence },
    );
    assert.equal((await settled(run, "DONE")).callback, "DONE");
    // The job's own request is signed in the same way.
    const start = receiver.of("/verified")[0];
    assert.deepEqual(new Webhook(secret).verify(start.body, start.headers), { a: 1 });
    assert.deepEqual(verifyArticles(secret, start), { a: 1 });
  });

  test("attempts come 1, 5 and 30 s after one another, with the same bytes and fresh signatures", { timeout: 90_000 }, async () => {
    const { secret, at } = await reporting("delays", [503, { reset: true }, 500, 200]);
    const run = await api.runNow("delays", { wait: "10s" });
    const requests = await receiver.waitForCount(at, 4, 60_000);
    gaps(requests.map((request) => request.time)).forEach((gap, i) => near(gap, [1_000, 5_000, 30_000][i]));
    const all = (pick) => new Set(requests.map(pick)).size;
    assert.equal(all((request) => request.text), 1);
    assert.equal(all((request) => request.headers["x-schedule-id"]), 1);
    assert.equal(all((request) => request.headers["webhook-id"]), 1);
    for (const name of ["x-nonce", "x-timestamp", "x-signature", "webhook-signature"]) assert.equal(all((request) => request.headers[name]), 4, name);
    requests.forEach((request, i) => {
      assert.equal(request.headers["x-attempt"], String(i + 1));
      verifyArticles(secret, request);
      assert.ok(Math.abs(Number(request.headers["x-timestamp"]) - request.time) < 1_500);
      assert.equal(Number(request.headers["webhook-timestamp"]), Math.floor(Number(request.headers["x-timestamp"]) / 1000));
    });
    await settled(run, "DONE");
    assert.equal(receiver.of("/delays").length, 1, "the job ran once");
    assert.equal((await api.runs("delays")).length, 1);
  });

  test("a receiver that is down for a minute: five failures over all jobs open the breaker, then all is delivered once", { timeout: 120_000 }, async () => {
    const other = await startReceiver();
    const callbackUrl = other.url("/down");
    await newApp("down");
    for (const jobId of ["down-a", "down-b"]) await api.create({ jobId, executor: receiver.url(`/${jobId}`), callbackUrl, callbackApp: "down" });
    await other.down();
    const downAt = Date.now();
    const runs = await Promise.all(["down-a", "down-b"].map((jobId) => api.runNow(jobId, { wait: "10s" })));
    const open = await until("the breaker is open", async () => {
      const endpoint = await endpointOf(callbackUrl);
      return endpoint.breaker === "open" && endpoint;
    }, 20_000);
    assert.equal(open.counters.attempts, 5);
    assert.equal(open.waiting, 2);
    near(Date.parse(open.probeAt) - Date.parse(open.since), 60_000);
    for (const delivery of await deliveriesOf(open.endpointId, "?state=waiting")) {
      const times = delivery.history.map((row) => Date.parse(row.at));
      gaps(times).forEach((gap, i) => near(gap, [1_000, 5_000][i]));
      assert.ok(delivery.history.every((row) => row.fault === "network" && row.status === undefined), JSON.stringify(delivery.history));
    }
    await until("a minute of being down", () => Date.now() > downAt + 60_000, 70_000);
    // Parked deliveries use up no attempt.
    assert.equal((await api.ok("GET", `/api/v1/endpoints/${open.endpointId}`)).counters.attempts, 5);
    await other.up();
    await other.waitForCount("/down", 2, 20_000);
    for (const run of runs) await settled(run, "DONE");
    const closed = await api.ok("GET", `/api/v1/endpoints/${open.endpointId}`);
    assert.deepEqual([closed.breaker, closed.failuresInARow, closed.waiting, closed.counters.attempts, closed.counters.delivered], ["closed", 0, 0, 7, 2]);
    assert.deepEqual(other.requests.map((request) => request.json.scheduleId).sort(), runs.map((run) => run.scheduleId).sort());
    for (const jobId of ["down-a", "down-b"]) assert.equal(receiver.of(`/${jobId}`).length, 1, "the job ran once");
    await other.down();
  });

  test("one dead endpoint delays no other, and an operator may close its breaker", { timeout: 60_000 }, async () => {
    await reporting("dead-1", 500, { overlap: "allow" });
    const documents = ["dead-2", "dead-3", "dead-4", "dead-5"].map((jobId) => ({ jobId, executor: receiver.url("/dead"), callbackUrl: receiver.url("/cb-dead-1"), callbackApp: "dead-1" }));
    for (const document of documents) await api.create(document);
    const { at } = await reporting("alive", 200);
    const runs = await Promise.all(["dead-1", ...documents.map((one) => one.jobId)].map((jobId) => api.runNow(jobId, { wait: "10s" })));
    const dead = await until("the breaker is open", async () => {
      const endpoint = await endpointOf(receiver.url("/cb-dead-1"));
      return endpoint.breaker === "open" && endpoint;
    });
    const run = await api.runNow("alive", { wait: "10s" });
    const request = await receiver.waitFor(at);
    near(request.time - Date.parse(run.endedAt), 0);
    receiver.plan("/cb-dead-1", 200);
    const viewer = await api.newToken("viewer");
    await viewer.refused("role_missing", "POST", `/api/v1/endpoints/${dead.endpointId}/close-breaker`);
    assert.equal((await api.ok("POST", `/api/v1/endpoints/${dead.endpointId}/close-breaker`)).breaker, "closed");
    for (const one of runs) await settled(one, "DONE");
  });

  test("results of one job arrive in the order of its runs", async () => {
    const { at } = await reporting("order", [503, 503, 200]);
    for (const n of [1, 2, 3]) await api.runNow("order", { params: n, wait: "10s" });
    const requests = await receiver.waitForCount(at, 5, 20_000);
    assert.deepEqual(requests.map((request) => request.json.seq), [1, 1, 1, 2, 3]);
  });

  test("a 410 stops at once, and a dead letter can be delivered again from the API", async () => {
    const { at } = await reporting("gone", [410, 200, 200]);
    const run = await api.runNow("gone", { wait: "10s" });
    await settled(run, "FAILED");
    assert.match((await api.ledger(run.scheduleId)).at(-1).why, /callback given up: http_410/);
    const { endpointId, dead } = await endpointOf(receiver.url(at));
    assert.equal(dead, 1);
    const [letter] = await deliveriesOf(endpointId, "?state=dead");
    assert.deepEqual([letter.scheduleId, letter.attempts, letter.code, letter.history[0].status], [run.scheduleId, 1, "http_410", 410]);
    const path = `/api/v1/endpoints/${endpointId}/deliveries/${run.scheduleId}/replay`;
    assert.equal((await api.call("POST", path)).status, 202);
    const [first, second] = await receiver.waitForCount(at, 2);
    assert.equal(second.text, first.text);
    await settled(run, "DONE");
    assert.equal((await api.ok("POST", `/api/v1/endpoints/${endpointId}/replay-dead`)).accepted, true);
    assert.deepEqual(await deliveriesOf(endpointId, "?state=dead"), []);
    await api.refused("delivery_not_found", "POST", path.replace(run.scheduleId, run.scheduleId.replace(/.$/, (c) => (c === "a" ? "b" : "a"))));
    assert.equal(receiver.of("/gone").length, 1, "the job ran once");
  });

  test("during a rotation both secrets verify", async () => {
    const old = await newApp("rotated");
    const { secret: fresh, app } = await api.ok("POST", "/api/v1/apps/rotated/rotate");
    assert.deepEqual([app.keyVersion, app.previousVersion], [2, 1]);
    await api.refused("refused", "POST", "/api/v1/apps/rotated/rotate");
    const { at } = await reporting("rotated", 200, { callbackApp: "rotated" });
    await api.runNow("rotated", { wait: "10s" });
    const request = await receiver.waitFor(at);
    assert.equal(request.headers["webhook-signature"].split(" ").length, 2);
    for (const secret of [old, fresh]) new Webhook(secret).verify(request.body, request.headers);
    verifyArticles(old, request);
    verifyArticles(fresh, request, "x-signature-next");
    assert.equal((await api.ok("POST", "/api/v1/apps/rotated/retire")).previousVersion, undefined);
    await api.ok("POST", "/api/v1/apps/rotated/retire");
  });

  test("a redirect is refused, Retry-After is honoured, and 2xx is enough though the body breaks off", async () => {
    const { at } = await reporting("redirect", [{ status: 302, headers: { location: receiver.url("/elsewhere") } }, { status: 429, headers: { "retry-after": "7" } }, { half: true, body: "ta" }]);
    const run = await api.runNow("redirect", { wait: "10s" });
    const requests = await receiver.waitForCount(at, 3, 20_000);
    gaps(requests.map((request) => request.time)).forEach((gap, i) => near(gap, [1_000, 7_000][i]));
    await settled(run, "DONE");
    assert.deepEqual(receiver.of("/elsewhere"), []);
    assert.equal(receiver.of(at).length, 3);
  });

  test("a receiver that hangs is cut off after 15 s", { timeout: 60_000 }, async () => {
    const { at } = await reporting("hangs", [{ hang: true }, 200]);
    const run = await api.runNow("hangs", { wait: "10s" });
    const [first, second] = await receiver.waitForCount(at, 2, 30_000);
    near(second.time - first.time, 16_000, 2_000);
    await settled(run, "DONE");
  });

  test("a failed run is reported too, once, after its last attempt", async () => {
    receiver.plan("/failing", 500);
    const { at } = await reporting("failing", 200, { retryTimes: 2, retryDelays: [200] });
    const run = await api.runNow("failing", { wait: "10s" });
    await settled(run, "DONE");
    const [{ json }] = receiver.of(at);
    assert.deepEqual([json.status, json.attempt, json.errorCode, receiver.of(at).length], ["FAILED", 3, "http_500", 1]);
  });
});
