// Jobs in accepted mode: 202 now, the end reported later by the callee.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { startWorld } from "../support/api.mjs";

describe("accepted mode", { concurrency: true }, () => {
  let world, api, receiver, nobody;
  before(async () => {
    world = await startWorld();
    ({ api, receiver } = world);
    nobody = api.as(undefined);
  });
  after(() => world.stop());

  /** A run whose callee has answered 202: the run and what the callee was given. */
  async function accepted(jobId, document = {}, answers = [202]) {
    const url = receiver.plan(`/${jobId}`, ...answers);
    await api.create({ jobId, executor: { url, mode: "accepted" }, ...document });
    const run = await api.runNow(jobId);
    const request = await receiver.waitFor(`/${jobId}`);
    return { run, given: given(request) };
  }

  const given = ({ headers }) => ({ token: headers["x-run-token"], fence: Number(headers["x-fence"]), scheduleId: headers["x-schedule-id"] });
  const report = (what, { scheduleId, token, fence }, body = {}) =>
    nobody.call("POST", `/api/v1/runs/${scheduleId}/${what}`, { headers: { "x-run-token": token }, body: { fence, ...body } });
  const running = (scheduleId) => api.settled(scheduleId, 5_000, (run) => run.status === "RUNNING");

  test("the callee reports progress and the end with the token it was given", async () => {
    const { run, given } = await accepted("good");
    await running(run.scheduleId);
    assert.equal((await report("progress", given, { percent: 40, message: "40 of 100" })).status, 204);
    const half = await api.run(run.scheduleId);
    assert.deepEqual([half.progress.percent, half.progress.message, half.status], [40, "40 of 100", "RUNNING"]);
    const done = await report("complete", given, { status: "SUCCESS", summary: "100 of 100", output: "line\n" });
    assert.equal(done.status, 200);
    assert.deepEqual([done.json.status, done.json.summary], ["SUCCESS", "100 of 100"]);
    assert.equal((await api.call("GET", `/api/v1/runs/${run.scheduleId}/output`)).text.trim(), "line");
    assert.ok(done.json.durationMs > 0);
  });

  test("a reported failure is retried like any other, and its end is final", async () => {
    const { given: first } = await accepted("failing", { retryTimes: 1, retryDelays: [200] });
    const failed = await report("complete", first, { status: "FAILED", errorCode: "out_of_stock", summary: "no stock" });
    assert.equal(failed.status, 200);
    const [, second] = await receiver.waitForCount("/failing", 2);
    const next = given(second);
    assert.ok(next.fence > first.fence);
    assert.notEqual(next.token, first.token);
    assert.equal((await report("complete", next, { status: "FAILED", errorCode: "out_of_stock" })).json.status, "FAILED");
    const run = await api.run(first.scheduleId);
    assert.deepEqual([run.status, run.errorCode, run.attempt], ["FAILED", "out_of_stock", 2]);
    assert.equal((await report("complete", next, { status: "SUCCESS" })).json.code, "run_ended");
    assert.equal((await api.run(first.scheduleId)).status, "FAILED");
  });

  test("the report of an older attempt is refused with stale_fence and kept as evidence", async () => {
    const { given: first } = await accepted("stale", { timeoutMs: 600, retryTimes: 1, retryDelays: [100] });
    // The first attempt runs into its limit; the second has a newer fence.
    const [, second] = await receiver.waitForCount("/stale", 2);
    const late = await report("complete", first, { status: "SUCCESS" });
    assert.deepEqual([late.status, late.json.code], [409, "stale_fence"]);
    assert.equal((await report("progress", first, { percent: 1 })).json.code, "stale_fence");
    assert.equal((await report("complete", given(second), { status: "SUCCESS" })).json.status, "SUCCESS");
    const after = await report("complete", first, { status: "FAILED" });
    assert.equal(after.status, 409);
    const run = await api.run(first.scheduleId);
    assert.equal(run.status, "SUCCESS");
    const evidence = (await api.ledger(first.scheduleId)).filter((row) => /late report/.test(row.why));
    assert.match(evidence[0].why, new RegExp(`fence ${first.fence} refused: Succeeded`));
    assert.match(evidence[1].why, new RegExp(`fence ${first.fence} refused: Failed`));
  });

  test("a wrong token, another run's token and a token without its fence are refused", async () => {
    const { given: one } = await accepted("token-one");
    const { given: two } = await accepted("token-two");
    const flipped = one.token.replace(/^./, (c) => (c === "0" ? "1" : "0"));
    for (const [what, wrong] of [
      ["a flipped digit", { ...one, token: flipped }],
      ["another run's token", { ...one, token: two.token }],
      ["a fence it was not given for", { ...one, fence: one.fence + 1 }],
      ["no token at all", { ...one, token: "" }],
      ["something else", { ...one, token: "a".repeat(100) }],
    ]) {
      for (const path of ["complete", "progress"]) {
        const answer = await report(path, wrong, path === "complete" ? { status: "SUCCESS" } : { percent: 5 });
        assert.ok([401, 403].includes(answer.status), `${path} with ${what} -> ${answer.status} ${answer.text}`);
      }
    }
    const unfenced = await report("complete", { ...one, fence: undefined }, { status: "SUCCESS" });
    assert.ok(unfenced.status >= 400 && unfenced.status < 500, unfenced.text);
    assert.equal((await api.run(one.scheduleId)).status, "RUNNING");
    // The token opens reports of its run alone.
    const read = await nobody.call("GET", `/api/v1/runs/${one.scheduleId}`, { headers: { "x-run-token": one.token } });
    assert.equal(read.json.code, "token_missing");
    const asBearer = await nobody.as(one.token).call("GET", `/api/v1/runs/${one.scheduleId}`);
    assert.equal(asBearer.json.code, "token_invalid");
  });

  test("an operator may report the end, a viewer may not", async () => {
    const { run } = await accepted("operator");
    await running(run.scheduleId);
    const [operator, viewer] = [await api.newToken("operator"), await api.newToken("viewer")];
    const path = `/api/v1/runs/${run.scheduleId}/complete`;
    await viewer.refused("role_missing", "POST", path, { body: { status: "SUCCESS" } });
    const done = await operator.ok("POST", path, { body: { status: "SUCCESS", summary: "by hand" } });
    assert.equal(done.status, "SUCCESS");
    assert.equal((await api.ledger(run.scheduleId)).at(-1).by, "operator of a test");
  });

  test("a run that is never completed ends as TIMED_OUT", async () => {
    const { run } = await accepted("never", { timeoutMs: 700 });
    const end = await api.settled(run.scheduleId, 12_000);
    assert.deepEqual([end.status, end.errorCode], ["TIMED_OUT", "timeout"]);
    assert.ok(end.durationMs >= 700, `${end.durationMs} ms`);
  });

  test("a callee that reports before its 202 has arrived is heard", async () => {
    const gate = Promise.withResolvers();
    const { given } = await accepted("early", {}, [{ status: 202, until: gate.promise }]);
    const early = await report("complete", given, { status: "SUCCESS", summary: "quick" });
    gate.resolve();
    assert.equal(early.json.status, "SUCCESS");
    assert.deepEqual((await api.ledger(given.scheduleId)).map((row) => row.to), ["TRIGGERED", "DISPATCHED", "SUCCESS"]);
  });

  test("any answer but 202 is the result, also in accepted mode", async () => {
    const { run } = await accepted("sync", {}, [{ status: 200, body: "done at once" }]);
    const end = await api.settled(run.scheduleId);
    assert.deepEqual([end.status, end.summary], ["SUCCESS", "done at once"]);
    const { run: refused } = await accepted("no", {}, [400]);
    assert.deepEqual([(await api.settled(refused.scheduleId)).status], ["FAILED"]);
  });

  test("a cancelled run refuses the report of its callee and keeps it as evidence", async () => {
    const { run, given } = await accepted("cancel");
    await running(run.scheduleId);
    await api.ok("POST", `/api/v1/runs/${run.scheduleId}/cancel`);
    assert.equal((await api.settled(run.scheduleId)).status, "CANCELLED");
    const late = await report("complete", given, { status: "SUCCESS" });
    assert.deepEqual([late.status, late.json.code], [409, "run_ended"]);
    assert.match((await api.ledger(run.scheduleId)).at(-1).why, /late report with fence \d+ refused/);
  });
});
