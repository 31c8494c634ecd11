// What happens when a run is due while another of the same job is active.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { runOptions, startWorld, until } from "../support/api.mjs";

describe("overlap", { concurrency: true }, () => {
  let world, api, receiver;
  before(async () => {
    world = await startWorld();
    ({ api, receiver } = world);
  });
  after(() => world.stop());

  /** A job by hand whose callee answers when it is told to. */
  async function held(jobId, document = {}) {
    const gate = Promise.withResolvers();
    receiver.plan(`/${jobId}`, { until: gate.promise }, 200);
    await api.create({ jobId, executor: receiver.url(`/${jobId}`), timeoutMs: 60_000, ...document });
    return gate.resolve;
  }

  test("skip: an occurrence that comes while a run is active is recorded as skipped, naming it", async () => {
    const release = await held("skip", { every: "1s", overlap: "skip" });
    const first = await receiver.waitFor("/skip");
    const active = first.headers["x-schedule-id"];
    const skipped = await until("three skipped runs", async () => {
      const runs = await api.runs("skip", "&status=SKIPPED");
      return runs.length >= 3 && runs;
    });
    for (const run of skipped) {
      assert.match((await api.ledger(run.scheduleId)).at(-1).why, new RegExp(`overlap policy skip: run ${active} is active since`));
      assert.equal(run.startedAt, undefined);
    }
    assert.equal(receiver.of("/skip").length, 1);
    release();
    const second = await receiver.waitFor((request) => request.path === "/skip" && request !== first);
    // Every second since the first start has its record.
    const instants = (await api.runs("skip")).map((run) => Date.parse(run.plannedAt)).reverse();
    instants.forEach((at, i) => assert.equal(at, instants[0] + i * 1000));
    assert.ok(instants.includes(Number(second.headers["x-planned-at"])));
  });

  test("queue: runs wait in order up to the limit, and what is beyond is skipped", async () => {
    const release = await held("queue", { overlap: "queue", queueLimit: 2 });
    const path = "/api/v1/jobs/queue/runs";
    const runs = [];
    for (const n of [1, 2, 3]) runs.push(await api.runNow("queue", { params: n }));
    assert.deepEqual((await api.run(runs[1].scheduleId)).waits, { for: "queue" });
    await api.refused("queue_full", "POST", path, runOptions({ params: 4 }));
    assert.equal(receiver.of("/queue").length, 1);
    release();
    for (const run of runs) assert.equal((await api.settled(run.scheduleId)).status, "SUCCESS");
    assert.deepEqual(receiver.of("/queue").map((request) => request.json), [1, 2, 3]);
  });

  test("queue: of scheduled occurrences one waits and the others are skipped as queue full", async () => {
    const release = await held("queued", { every: "1s", overlap: "queue" });
    const first = await receiver.waitFor("/queued");
    const skipped = await until("a skipped run", async () => (await api.runs("queued", "&status=SKIPPED")).at(-1));
    assert.match((await api.ledger(skipped.scheduleId)).at(-1).why, /^queue full: 1 run/);
    assert.equal(Date.parse(skipped.plannedAt), Number(first.headers["x-planned-at"]) + 2000);
    release();
    const [, second] = await receiver.waitForCount("/queued", 2);
    assert.equal(Number(second.headers["x-planned-at"]), Number(first.headers["x-planned-at"]) + 1000);
  });

  test("replace: the old connection is broken off before the new request is sent", async () => {
    receiver.plan("/replace", { hang: true }, 200);
    await api.create({ jobId: "replace", executor: receiver.url("/replace"), overlap: "replace", timeoutMs: 60_000 });
    const old = await api.runNow("replace");
    const first = await receiver.waitFor("/replace");
    const next = await api.runNow("replace", { wait: "10s" });
    const second = receiver.of("/replace")[1];
    const broken = await receiver.waitForBreak(first);
    assert.ok(broken <= second.time, `broken off at ${broken}, the new request came at ${second.time}`);
    assert.ok(Number(second.headers["x-fence"]) > Number(first.headers["x-fence"]));
    assert.equal(next.status, "SUCCESS");
    const replaced = await api.settled(old.scheduleId);
    assert.equal(replaced.status, "CANCELLED");
    assert.match((await api.ledger(old.scheduleId)).at(-1).why, /replaced by a newer run/);
  });

  test("replace: many newer runs leave only the newest", async () => {
    receiver.plan("/newest", { hang: true }, 200);
    await api.create({ jobId: "newest", executor: receiver.url("/newest"), overlap: "replace", timeoutMs: 60_000 });
    const runs = [await api.runNow("newest")];
    await receiver.waitFor("/newest");
    runs.push(...(await Promise.all([1, 2, 3].map(() => api.runNow("newest")))));
    const ends = await Promise.all(runs.map((run) => api.settled(run.scheduleId)));
    const newest = ends.toSorted((a, b) => a.seq - b.seq).at(-1);
    assert.equal(newest.status, "SUCCESS");
    assert.ok(ends.every((run) => run === newest || run.status === "CANCELLED" || run.status === "SUCCESS"), ends.map((run) => run.status).join());
    assert.deepEqual((await api.job("newest")).openRuns, []);
  });

  test("allow: runs are active beside each other", async () => {
    receiver.plan("/allow", { hang: true });
    await api.create({ jobId: "allow", executor: receiver.url("/allow"), overlap: "allow", timeoutMs: 60_000 });
    const runs = await Promise.all([1, 2, 3].map(() => api.runNow("allow")));
    await receiver.waitForCount("/allow", 3);
    assert.equal((await api.job("allow")).openRuns.length, 3);
    await Promise.all(runs.map((run) => api.ok("POST", `/api/v1/runs/${run.scheduleId}/cancel`)));
    for (const run of runs) assert.equal((await api.settled(run.scheduleId)).status, "CANCELLED");
  });

  test("a manual run while one is active is refused, naming it, unless the caller chooses otherwise", async () => {
    receiver.plan("/choice", { hang: true }, { hang: true }, 200);
    await api.create({ jobId: "choice", executor: receiver.url("/choice"), timeoutMs: 60_000 });
    const active = await api.runNow("choice");
    await receiver.waitFor("/choice");
    const path = "/api/v1/jobs/choice/runs";
    const problem = await api.refused("run_active", "POST", path, runOptions());
    assert.equal(problem.status, 409);
    assert.equal(problem.runId, active.scheduleId);

    const beside = await api.runNow("choice", { overlap: "allow" });
    await receiver.waitForCount("/choice", 2);
    const queued = await api.runNow("choice", { overlap: "queue" });
    assert.equal(queued.waits.for, "queue");
    await api.refused("queue_full", "POST", path, runOptions({ overlap: "queue" }));
    const instead = await api.runNow("choice", { overlap: "replace", wait: "10s" });
    assert.equal(instead.status, "SUCCESS");
    for (const run of [active, beside, queued]) assert.equal((await api.run(run.scheduleId)).status, "CANCELLED");
    // Nothing that was refused has left a run.
    assert.equal((await api.runs("choice")).length, 4);
  });

  test("a replay obeys the policy too", async () => {
    receiver.plan("/replayed", 200, { hang: true });
    await api.create({ jobId: "replayed", executor: receiver.url("/replayed"), timeoutMs: 60_000 });
    const first = await api.runNow("replayed", { wait: "10s" });
    const active = await api.runNow("replayed");
    const problem = await api.refused("run_active", "POST", `/api/v1/runs/${first.scheduleId}/replay`);
    assert.equal(problem.runId, active.scheduleId);
    await api.ok("POST", `/api/v1/runs/${active.scheduleId}/cancel`);
  });
});
