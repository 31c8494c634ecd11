// The database is a copy: while it is away jobs go on, afterwards it has every run, and it can be rebuilt.
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { Api, startWorld, until } from "../support/api.mjs";
import { startRuntime } from "../support/runtime.mjs";

/** Runs statements on the file of the runtime's own D1 database. */
function database(stateDir, ...statements) {
  const folder = join(stateDir, "v3/d1");
  const files = readdirSync(folder, { recursive: true }).filter((name) => name.endsWith(".sqlite") && !name.includes("metadata"));
  assert.equal(files.length, 1, files.join());
  const opened = new DatabaseSync(join(folder, files[0]), { timeout: 5_000 });
  try {
    return statements.map((text) => (text.startsWith("SELECT") ? opened.prepare(text).all() : opened.exec(text))).at(-1);
  } finally {
    opened.close();
  }
}

describe("D1 away", () => {
  let world, api, receiver, runtime, stateDir;
  before(async () => {
    stateDir = mkdtempSync(join(tmpdir(), "cronwright-d1-"));
    world = await startWorld({ stateDir });
    ({ api, receiver, runtime } = world);
  });
  after(async () => {
    await runtime.stop();
    await receiver.down();
    if (existsSync(stateDir)) rmSync(stateDir, { recursive: true, force: true });
  });

  /** Every run in the list, by id. */
  async function listed() {
    const found = new Map();
    for (let cursor = ""; cursor !== undefined; ) {
      const page = await api.ok("GET", `/api/v1/runs?limit=200${cursor && `&cursor=${cursor}`}`);
      for (const run of page.items) found.set(run.scheduleId, run);
      cursor = page.nextCursor;
    }
    return found;
  }

  /** Waits until the list has every ended run of the jobs, as their shards have them. */
  const caughtUp = (jobs, ms) => until("the list has every run", async () => {
    const all = (await Promise.all(jobs.map((id) => api.runs(id)))).flat().filter((run) => run.endedAt);
    const rows = await listed();
    return all.every((run) => rows.get(run.scheduleId)?.status === run.status) && all;
  }, ms, 250);

  const away = () => database(stateDir, "ALTER TABLE runs RENAME TO runs_away", "ALTER TABLE jobs RENAME TO jobs_away");
  const back = () => database(stateDir, "ALTER TABLE runs_away RENAME TO runs", "ALTER TABLE jobs_away RENAME TO jobs");

  test("jobs fire and can be changed while it is away, and afterwards the list has every run", { timeout: 90_000 }, async () => {
    await api.create({ jobId: "ticks", every: "1s", executor: receiver.url("/ticks") });
    await receiver.waitForCount("/ticks", 2);
    await caughtUp(["ticks"], 10_000);
    away();
    const before = receiver.of("/ticks").length;
    await receiver.waitForCount("/ticks", before + 3);
    const gone = await api.call("GET", "/api/v1/runs");
    assert.deepEqual([gone.status, gone.json.code], [503, "database_unavailable"]);
    assert.ok(gone.headers.get("retry-after"));
    assert.ok(!/sql|table|runs_away/i.test(gone.json.detail), gone.json.detail);
    const run = await api.runNow("ticks", { wait: "10s", overlap: "allow" });
    assert.equal(run.status, "SUCCESS");
    assert.equal((await api.job("ticks")).lastRun.jobId, "ticks");
    assert.equal((await api.setStatus("ticks", "PAUSED")).status, "PAUSED");
    const created = await api.create({ jobId: "made-away", executor: receiver.url("/made-away") });
    assert.equal(created.revision, 1);
    await api.runNow("made-away", { wait: "10s" });
    await until("attempts that failed", () => runtime.logs.some((line) => line.includes("d1_away")));
    back();
    const all = await caughtUp(["ticks", "made-away"], 45_000);
    assert.ok(all.length >= before + 4);
    const jobs = await until("the list has the job that was made", async () => {
      const { items } = await api.ok("GET", "/api/v1/jobs");
      return items.length === 2 && items;
    }, 20_000);
    assert.deepEqual(jobs.map((job) => [job.jobId, job.status]), [["made-away", "ENABLED"], ["ticks", "PAUSED"]]);
  });

  test("what it missed is not forgotten over a kill", { timeout: 90_000 }, async () => {
    away();
    for (const n of [1, 2, 3]) await api.runNow("made-away", { params: n, wait: "10s" });
    const { length } = await api.runs("made-away");
    await runtime.kill9();
    back();
    runtime = await startRuntime({ stateDir, port: runtime.port });
    api = new Api(runtime.url, api.token);
    // The minute tick reaches every shard, also one that nothing else would wake.
    await runtime.tick();
    const all = await caughtUp(["ticks", "made-away"], 30_000);
    assert.equal(all.filter((run) => run.jobId === "made-away").length, length);
  });

  test("emptied tables are rebuilt from the shards, step by step", { timeout: 60_000 }, async () => {
    for (let n = 0; n < 40; n += 1) await api.create({ jobId: `many-${n}`, executor: receiver.url("/many"), status: n % 2 ? "PAUSED" : "ENABLED" });
    for (let n = 0; n < 10; n += 1) await api.runNow(`many-${n}`, { wait: "10s" });
    const ids = ["ticks", "made-away", ...Array.from({ length: 10 }, (_, n) => `many-${n}`)];
    await caughtUp(ids, 20_000);
    const jobs = await until("all jobs are listed", async () => {
      const { items } = await api.ok("GET", "/api/v1/jobs?limit=200");
      return items.length === 42 && items;
    });
    const runs = await listed();
    database(stateDir, "DELETE FROM job_labels", "DELETE FROM jobs", "DELETE FROM runs");
    assert.equal((await api.ok("GET", "/api/v1/jobs")).items.length, 0);
    const sums = { jobs: 0, runs: 0, steps: 0 };
    for (let cursor; ; sums.steps += 1) {
      const step = await api.ok("POST", "/api/v1/system/rebuild", { body: { cursor } });
      sums.jobs += step.jobs;
      sums.runs += step.runs;
      assert.equal(step.done, step.nextCursor === undefined);
      if (step.done) break;
      assert.notEqual(step.nextCursor, cursor);
      cursor = step.nextCursor;
    }
    assert.deepEqual([sums.jobs, sums.runs], [42, runs.size]);
    assert.deepEqual(await api.ok("GET", "/api/v1/jobs?limit=200"), { items: jobs });
    assert.deepEqual(await listed(), runs);
    await new Api(api.url, (await api.newToken("operator")).token).refused("role_missing", "POST", "/api/v1/system/rebuild");
  });
});
