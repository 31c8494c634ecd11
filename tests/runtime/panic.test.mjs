// A fault in one place stays in that place: planted panics, a lost alarm.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { Api, runOptions, startWorld, until } from "../support/api.mjs";
import { startRuntime } from "../support/runtime.mjs";

const plannedAt = (request) => Number(request.headers["x-planned-at"]);

/** Asserts that the seconds of these requests follow one another without a gap. */
function consecutive(requests) {
  const planned = requests.map(plannedAt);
  planned.forEach((at, i) => assert.equal(at, planned[0] + i * 1000, `planned instants: ${planned}`));
}

describe("planted faults", () => {
  let world, api, receiver, runtime, stateDir;
  // One shard, so that everybody is a neighbour of everybody.
  const options = { vars: { TEST_SEAMS: "1", JOB_SHARDS: "1" }, objects: true };
  before(async () => {
    stateDir = mkdtempSync(join(tmpdir(), "cronwright-panic-"));
    world = await startWorld({ ...options, stateDir });
    ({ api, receiver, runtime } = world);
    // An attempt that is lost by a kill holds its job up for as long as its callee may still be at it.
    await api.create({ jobId: "neighbour", every: "1s", timeoutMs: 2000, executor: receiver.url("/neighbour") });
    await receiver.waitForCount("/neighbour", 2);
  });
  after(async () => {
    await runtime.stop();
    await receiver.down();
    rmSync(stateDir, { recursive: true, force: true });
  });

  const seam = (binding, name, fault) => runtime.ask(binding, name, { seam: { fault, job: null } });
  const more = (path, count = 3) => receiver.waitForCount(path, receiver.of(path).length + count);

  test("a job whose machine panics is quarantined alone, and its neighbours go on", async () => {
    await api.create({ jobId: "seam-panic-1", every: "1s", executor: receiver.url("/panics") });
    const job = await until("the quarantine", async () => {
      const found = await api.job("seam-panic-1");
      return found.quarantined && found;
    });
    assert.match(job.quarantined, /panicked/);
    consecutive(await more("/neighbour"));
    assert.equal(receiver.of("/panics").length, 0);
    await api.refused("quarantined", "POST", "/api/v1/jobs/seam-panic-1/runs", runOptions());
    assert.equal((await api.job("neighbour")).quarantined, undefined);
    // Others can still be made and run in the same shard.
    await api.create({ jobId: "later", executor: receiver.url("/later") });
    assert.equal((await api.runNow("later", { wait: "10s" })).status, "SUCCESS");
    const metrics = await api.call("GET", "/api/v1/system/metrics");
    assert.match(metrics.text, /^cronwright_shards_silent 0$/m);
  });

  test("an operator lets a quarantined job be tried again, and can delete it", async () => {
    const resumed = await api.setStatus("seam-panic-1", "ENABLED");
    assert.equal(resumed.quarantined, undefined);
    await until("it panics again", async () => (await api.job("seam-panic-1")).quarantined);
    // What came due before the edit still runs, before the run that is asked for.
    const calm = { name: "calm", executor: receiver.url("/calm"), overlap: "queue", queueLimit: 5 };
    await api.ok("PUT", "/api/v1/jobs/seam-panic-1", { body: calm });
    assert.equal((await api.runNow("seam-panic-1", { wait: "10s" })).status, "SUCCESS");
    assert.equal((await api.job("seam-panic-1")).quarantined, undefined);
    await api.create({ jobId: "seam-panic-2", every: "1s", executor: receiver.url("/panics") });
    await until("the quarantine", async () => (await api.job("seam-panic-2")).quarantined);
    await api.ok("DELETE", "/api/v1/jobs/seam-panic-2");
    consecutive(receiver.of("/neighbour"));
  });

  test("a panic in an object is an error for its caller alone: calls that are out go on, nothing is lost", async () => {
    const gate = Promise.withResolvers();
    receiver.plan("/out", { until: gate.promise, status: 200 }, 200);
    await api.create({ jobId: "out", executor: receiver.url("/out"), timeoutMs: 30_000 });
    const waiting = api.runNow("out", { wait: "20s" });
    await receiver.waitFor("/out");
    const began = Date.now();
    const answers = await Promise.all([1, 2, 3].map(() => seam("JOB_SHARD", "shard-0", "panic")));
    assert.deepEqual(answers.map(({ status, json }) => [status, json.code]), [[500, "internal"], [500, "internal"], [500, "internal"]]);
    assert.ok(Date.now() - began < 2_000, `the callers heard after ${Date.now() - began} ms`);
    consecutive(await more("/neighbour"));
    gate.resolve();
    const run = await waiting;
    assert.deepEqual([run.status, run.attempt, run.losses], ["SUCCESS", 1, 0]);
    assert.equal(receiver.of("/out").length, 1);
    assert.equal((await api.job("neighbour")).jobId, "neighbour");
  });

  test("a panic in a callback endpoint delays no delivery", async () => {
    const callbackUrl = receiver.plan("/cb", 200);
    await api.create({ jobId: "reports", executor: receiver.url("/reports"), callbackUrl });
    await api.runNow("reports", { wait: "10s" });
    await receiver.waitFor("/cb");
    const { items } = await until("the endpoint is listed", async () => {
      const page = await api.ok("GET", "/api/v1/endpoints");
      return page.items.length === 1 && page;
    });
    const { status } = await seam("ENDPOINT", items[0].endpointId, "panic");
    assert.equal(status, 500);
    const run = await api.runNow("reports", { wait: "10s" });
    const [, second] = await receiver.waitForCount("/cb", 2);
    assert.equal(second.json.scheduleId, run.scheduleId);
    assert.equal((await api.settled(run.scheduleId, 10_000, (one) => one.callback === "DONE")).callback, "DONE");
  });

  test("a shard whose alarm was lost is armed again by the minute tick", async () => {
    assert.deepEqual((await seam("JOB_SHARD", "shard-0", "lose_alarm")).json, "done");
    await until("silence", () => Date.now() - receiver.of("/neighbour").at(-1).time > 2_500, 20_000);
    const before = receiver.of("/neighbour").length;
    // What the clock asks every shard each minute.
    assert.ok((await runtime.ask("JOB_SHARD", "shard-0", "tick")).json.tick.lateMs > 1_000);
    await receiver.waitForCount("/neighbour", before + 2);
    // What was missed has its record.
    const runs = await until("its records", async () => {
      const found = (await api.runs("neighbour")).reverse();
      return found.at(-1).endedAt && found;
    });
    const recorded = runs.reduce((sum, run) => sum + (run.skipped?.count ?? 1), 0);
    assert.equal((Date.parse(runs.at(-1).plannedAt) - Date.parse(runs[0].plannedAt)) / 1000 + 1, recorded);
  });

  test("a quarantine outlives a kill, and so do the neighbours", async () => {
    await api.create({ jobId: "seam-panic-3", every: "1s", executor: receiver.url("/never") });
    await until("the quarantine", async () => (await api.job("seam-panic-3")).quarantined);
    await runtime.kill9();
    const before = receiver.of("/neighbour").length;
    runtime = await startRuntime({ ...options, stateDir, port: runtime.port });
    api = new Api(runtime.url, api.token);
    await receiver.waitForCount("/neighbour", before + 2, 15_000);
    assert.match((await api.job("seam-panic-3")).quarantined, /panicked/);
    assert.equal(receiver.of("/never").length, 0);
  });

  test("no fault can be planted where TEST_SEAMS is not set", async () => {
    await runtime.stop();
    runtime = await startRuntime({ objects: true, vars: { JOB_SHARDS: "1" }, stateDir, port: runtime.port });
    for (const [binding, name] of [["JOB_SHARD", "shard-0"], ["ENDPOINT", "ep_0"]]) {
      const { json } = await seam(binding, name, "panic");
      assert.equal(json.refused.code, "seams_closed");
    }
  });
});
