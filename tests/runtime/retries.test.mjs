// What goes wrong is tried again at its stages, cut off at its limits, and ends as it should.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { startWorld } from "../support/api.mjs";

describe("retries and limits", { concurrency: true }, () => {
  let world, api, receiver;
  before(async () => {
    world = await startWorld();
    ({ api, receiver } = world);
  });
  after(() => world.stop());

  /** Runs a job with that answer once, to its end. */
  async function outcome(jobId, answers, document = {}) {
    const url = receiver.plan(`/${jobId}`, ...[answers].flat());
    const { executor, ...rest } = document;
    await api.create({ jobId, executor: executor ? { url, ...executor } : url, ...rest });
    return api.runNow(jobId, { wait: "25s" });
  }

  const gaps = (requests) => requests.slice(1).map((request, i) => request.time - requests[i].time);
  const within = (ms, least, most, what) => assert.ok(ms >= least && ms <= most, `${what}: ${ms} ms, expected ${least} to ${most}`);

  test("retries come at their stages, the last stage repeats, and the end is FAILED", async () => {
    const run = await outcome("stages", 500, { retryTimes: 4, retryDelays: [300, "900ms"] });
    const requests = receiver.of("/stages");
    assert.equal(run.status, "FAILED");
    assert.equal(run.errorCode, "http_500");
    assert.equal(run.attempt, 5);
    assert.equal(requests.length, 5);
    gaps(requests).forEach((gap, i) => within(gap, i === 0 ? 200 : 850, (i === 0 ? 300 : 900) + 600, `wait ${i + 1}`));
    assert.deepEqual(requests.map((request) => request.headers["x-attempt"]), ["1", "2", "3", "4", "5"]);
    const fences = requests.map((request) => Number(request.headers["x-fence"]));
    fences.reduce((before, fence) => (assert.ok(fence > before, `fences: ${fences}`), fence));
    assert.equal(new Set(requests.map((request) => request.headers["x-schedule-id"])).size, 1);
    const rows = await api.ledger(run.scheduleId);
    assert.equal(rows.filter((row) => row.to === "DISPATCHED").length, 5);
    assert.match(rows.at(-1).why, /^attempt 5\/5: HTTP 500/);
  });

  test("a retry that succeeds ends the run as SUCCESS", async () => {
    const run = await outcome("recovers", [503, { reset: true }, 200], { retryTimes: 5, retryDelays: [200] });
    assert.equal(run.status, "SUCCESS");
    assert.equal(run.attempt, 3);
    assert.equal(receiver.of("/recovers").length, 3);
  });

  test("without retries one failure is the end", async () => {
    const run = await outcome("single", 500);
    assert.deepEqual([run.status, run.attempt], ["FAILED", 1]);
    assert.equal(receiver.of("/single").length, 1);
  });

  test("only the chosen outcomes are retried", async () => {
    const run = await outcome("choosy", 500, { retryTimes: 3, retryDelays: [100], retryOn: ["TIMED_OUT"] });
    assert.deepEqual([run.status, run.attempt], ["FAILED", 1]);
  });

  test("a time limit cuts off a callee that sends no head", async () => {
    const run = await outcome("hanging", { hang: true }, { timeoutMs: 800 });
    assert.deepEqual([run.status, run.errorCode], ["TIMED_OUT", "timeout"]);
    within(run.durationMs, 750, 2000, "the whole run");
    await receiver.waitForBreak(receiver.of("/hanging")[0], 2_000);
  });

  test("a time limit cuts off a body that drips", async () => {
    const run = await outcome("dripping", { dripMs: 200 }, { timeoutMs: 1200 });
    assert.deepEqual([run.status, run.errorCode], ["TIMED_OUT", "timeout"]);
    within(run.durationMs, 1100, 3000, "the duration");
    const broken = await receiver.waitForBreak(receiver.of("/dripping")[0], 2_000);
    within(broken - receiver.of("/dripping")[0].time, 600, 3000, "the connection's end");
  });

  test("each attempt has the whole time limit", async () => {
    const run = await outcome("limits", { hang: true }, { timeoutMs: 500, retryTimes: 2, retryDelays: [200] });
    assert.deepEqual([run.status, receiver.of("/limits").length], ["TIMED_OUT", 3]);
    const starts = (await api.ledger(run.scheduleId)).filter((row) => row.to === "DISPATCHED").map((row) => ({ time: Date.parse(row.at) }));
    gaps(starts).forEach((gap) => within(gap, 700, 1700, "limit and wait"));
  });

  test("a body that breaks off is a failure though its head said 200", async () => {
    const run = await outcome("half", { half: true, body: "begins" });
    assert.deepEqual([run.status, run.errorCode], ["FAILED", "network"]);
  });

  test("a connection that is cut is a failure of the network", async () => {
    const run = await outcome("reset", { reset: true });
    assert.deepEqual([run.status, run.errorCode], ["FAILED", "network"]);
  });

  test("only an expected status is a success", async () => {
    const expectedStatus = [201, "404-405"];
    const good = await outcome("expected", 404, { executor: { expectedStatus } });
    const bad = await outcome("unexpected", 200, { executor: { expectedStatus } });
    assert.deepEqual([good.status, good.httpStatus], ["SUCCESS", 404]);
    assert.deepEqual([bad.status, bad.errorCode, bad.httpStatus], ["FAILED", "http_200", 200]);
  });

  test("a deadline ends a run between its attempts", async () => {
    const run = await outcome("deadline", 500, { retryTimes: 20, retryDelays: [400], deadlineMs: 1500 });
    assert.equal(run.status, "FAILED");
    within(run.durationMs, 700, 1600, "the whole run");
    // No attempt begins that could not be answered in time.
    assert.ok(receiver.of("/deadline").length <= 4);
    assert.ok(Date.parse(run.endedAt) <= Date.parse(run.deadlineAt) + 500);
  });

  test("a deadline ends a run within an attempt", async () => {
    const run = await outcome("deadline-within", { hang: true }, { timeoutMs: 20_000, deadlineMs: 1000 });
    assert.equal(run.status, "TIMED_OUT");
    within(run.durationMs, 950, 2500, "the duration");
    await receiver.waitForBreak(receiver.of("/deadline-within")[0], 2_000);
    assert.match((await api.ledger(run.scheduleId)).map((row) => row.why).join("\n"), /deadline of the run passed/);
  });

  test("a cancelled run is stopped at the callee and not retried", async () => {
    const url = receiver.plan("/cancelled", { hang: true });
    await api.create({ jobId: "cancelled", executor: url, retryTimes: 5, retryDelays: [100] });
    const { scheduleId } = await api.runNow("cancelled");
    const request = await receiver.waitFor("/cancelled");
    await api.ok("POST", `/api/v1/runs/${scheduleId}/cancel`);
    await receiver.waitForBreak(request, 3_000);
    const run = await api.settled(scheduleId);
    assert.equal(run.status, "CANCELLED");
    await api.refused("run_ended", "POST", `/api/v1/runs/${scheduleId}/cancel`);
    // Had it been retried, a second start would be there by now.
    const other = await outcome("after-cancelled", 200);
    assert.equal(other.status, "SUCCESS");
    assert.equal(receiver.of("/cancelled").length, 1);
  });

  test("a run cancelled while it waits for its retry does not start again", async () => {
    receiver.plan("/waiting", 500);
    await api.create({ jobId: "waiting", executor: receiver.url("/waiting"), retryTimes: 1, retryDelays: [1500] });
    const { scheduleId } = await api.runNow("waiting");
    const waiting = await api.settled(scheduleId, 5_000, (run) => run.waits?.for === "retry");
    assert.ok(Date.parse(waiting.waits.until) > Date.now() - 500);
    await api.ok("POST", `/api/v1/runs/${scheduleId}/cancel`);
    assert.equal((await api.settled(scheduleId)).status, "CANCELLED");
    assert.equal(receiver.of("/waiting").length, 1);
  });

  test("the summary is the last line and the output is capped", async () => {
    const body = `${"x".repeat(40_000)}\nend`;
    const run = await outcome("big", { body });
    assert.equal(run.status, "SUCCESS");
    const output = await api.call("GET", `/api/v1/runs/${run.scheduleId}/output`);
    assert.ok(output.text.length >= 16 * 1024 && output.text.length < 17 * 1024, `${output.text.length} characters`);
  });
});
