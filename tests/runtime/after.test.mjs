// Jobs that run after others.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { startWorld, until } from "../support/api.mjs";

describe("after", { concurrency: true }, () => {
  let world, api, receiver;
  before(async () => {
    world = await startWorld();
    ({ api, receiver } = world);
  });
  after(() => world.stop());

  /** Two jobs, the second after the first; both say when they are linked. */
  async function pair(name, answer, on) {
    receiver.plan(`/${name}-a`, ...[answer].flat());
    await api.create({ jobId: `${name}-a`, executor: receiver.url(`/${name}-a`) });
    await api.create({ jobId: `${name}-b`, executor: receiver.url(`/${name}-b`), after: on ? { jobId: `${name}-a`, on } : `${name}-a` });
    return api.runNow(`${name}-a`, { wait: "10s" });
  }
  const runsOf = (jobId) => until(`runs of ${jobId}`, async () => {
    const runs = (await api.runs(jobId)).filter((run) => run.endedAt);
    return runs.length > 0 && runs;
  });

  test("a job runs after the success of another, and its run names that run", async () => {
    const first = await pair("good", 200);
    const [run] = await runsOf("good-b");
    assert.deepEqual([run.status, run.trigger.kind, run.trigger.by, run.trigger.run], ["SUCCESS", "after", "good-a", first.scheduleId]);
    assert.equal(receiver.of("/good-b").length, 1);
    assert.match((await api.ledger(run.scheduleId))[0].why, new RegExp(`run ${first.scheduleId} ended as SUCCESS`));
    assert.ok(receiver.of("/good-b")[0].time >= receiver.of("/good-a")[0].time);
  });

  test("when the other fails the run is recorded as skipped, naming it", async () => {
    const first = await pair("bad", 500);
    const [run] = await runsOf("bad-b");
    assert.equal(run.status, "SKIPPED");
    const why = (await api.ledger(run.scheduleId)).at(-1).why;
    assert.match(why, new RegExp(`job bad-a did not succeed: run ${first.scheduleId} ended as FAILED`));
    assert.equal(receiver.of("/bad-b").length, 0);
  });

  test("a job may wait for a failure instead", async () => {
    await pair("failure", [200, 500], "failure");
    await api.runNow("failure-a", { wait: "10s" });
    const runs = await runsOf("failure-b");
    assert.deepEqual(runs.map((run) => run.status), ["SUCCESS"]);
    assert.equal(receiver.of("/failure-b").length, 1);
  });

  test("a job may wait for either end", async () => {
    await pair("finish", [200, 500], "finish");
    await receiver.waitForCount("/finish-b", 1);
    await api.runNow("finish-a", { wait: "10s" });
    await receiver.waitForCount("/finish-b", 2);
  });

  test("only the last attempt of a run is its end", async () => {
    receiver.plan("/retried-a", 500, 200);
    await api.create({ jobId: "retried-a", executor: receiver.url("/retried-a"), retryTimes: 1, retryDelays: [600] });
    await api.create({ jobId: "retried-b", executor: receiver.url("/retried-b"), after: "retried-a" });
    await api.runNow("retried-a", { wait: "10s" });
    const runs = await runsOf("retried-b");
    assert.deepEqual(runs.map((run) => run.status), ["SUCCESS"]);
    assert.ok(receiver.of("/retried-b")[0].time >= receiver.of("/retried-a")[1].time);
  });

  test("a late upstream is waited for", async () => {
    const gate = Promise.withResolvers();
    receiver.plan("/late-a", { until: gate.promise });
    await api.create({ jobId: "late-a", executor: receiver.url("/late-a") });
    await api.create({ jobId: "late-b", executor: receiver.url("/late-b"), after: "late-a" });
    await api.runNow("late-a");
    await receiver.waitFor("/late-a");
    assert.deepEqual(await api.runs("late-b"), []);
    gate.resolve();
    await receiver.waitFor("/late-b");
  });

  test("one end of a chain triggers the next", async () => {
    await api.create({ jobId: "chain-1", executor: receiver.url("/chain-1") });
    await api.create({ jobId: "chain-2", executor: receiver.url("/chain-2"), after: "chain-1" });
    await api.create({ jobId: "chain-3", executor: receiver.url("/chain-3"), after: "chain-2" });
    await api.runNow("chain-1", { wait: "10s" });
    await receiver.waitFor("/chain-3");
  });

  test("a paused dependent does not run, and a changed one no longer listens", async () => {
    await api.create({ jobId: "source", executor: receiver.url("/source") });
    await api.create({ jobId: "paused", executor: receiver.url("/paused"), after: "source", status: "PAUSED" });
    await api.create({ jobId: "changed", executor: receiver.url("/changed"), after: "source" });
    await api.create({ jobId: "listens", executor: receiver.url("/listens"), after: "source" });
    await api.ok("PUT", "/api/v1/jobs/changed", { body: { name: "changed", executor: receiver.url("/changed") } });
    await api.runNow("source", { wait: "10s" });
    await receiver.waitFor("/listens");
    await runsOf("listens");
    assert.deepEqual([...(await api.runs("paused")), ...(await api.runs("changed"))], []);
  });

  test("a circle of jobs is refused, of whatever length", async () => {
    const make = (jobId, upstream) => ({ jobId, name: jobId, executor: receiver.url("/circle"), after: upstream });
    const self = await api.refused("invalid_document", "POST", "/api/v1/jobs", { body: make("ring-0", "ring-0") });
    assert.match(JSON.stringify(self.errors), /circle|exist/);
    await api.create({ ...make("ring-1"), after: undefined });
    await api.create(make("ring-2", "ring-1"));
    await api.create(make("ring-3", "ring-2"));
    for (const upstream of ["ring-1", "ring-2", "ring-3"]) {
      const problem = await api.refused("invalid_document", "PUT", "/api/v1/jobs/ring-1", { body: make("ring-1", upstream) });
      assert.equal(problem.errors[0].code, "after_cycle");
      assert.match(problem.errors[0].field, /^after/);
    }
    assert.equal((await api.job("ring-1")).revision, 1);
  });

  test("a job that does not exist cannot be waited for", async () => {
    const body = { name: "lonely", executor: receiver.url("/lonely"), after: "no-such-job" };
    const problem = await api.refused("invalid_document", "POST", "/api/v1/jobs", { body });
    assert.equal(problem.errors[0].field, "after.jobId");
  });
});
