// Down for a while, or woken by nobody: every instant that was missed has a start or a recorded reason.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, test } from "node:test";
import { pause, setUp, startWorld, until } from "../support/api.mjs";
import { startReceiver } from "../support/receiver.mjs";
import { startRuntime } from "../support/runtime.mjs";

const DOWN_MS = 90_000;
const LATE_MS = 60_000; // beyond this a start counts as made up for

describe("time goes on", { concurrency: true }, () => {
  test("after 90 s down every missed instant is accounted for, under each policy", { timeout: 200_000 }, async (t) => {
    const stateDir = mkdtempSync(join(tmpdir(), "cronwright-misfire-"));
    t.after(() => rmSync(stateDir, { recursive: true, force: true }));
    const receiver = await startReceiver();
    t.after(() => receiver.down());
    let runtime = await startRuntime({ stateDir });
    t.after(() => runtime.stop());
    const api = await setUp(runtime);

    const jobs = {
      fire_once: { misfire: "fire_once" },
      skip: { misfire: "skip" },
      catch_up: { misfire: { policy: "catch_up", maxCatchUp: 7 } },
      // Due once while the runtime is down, and older than this window when it is back.
      window: { misfire: { policy: "fire_once", catchUpWindow: "1s" }, every: "1d" },
    };
    const created = {};
    for (const [jobId, document] of Object.entries(jobs)) {
      const anchor = document.every && new Date(Date.now() + 8_000).toISOString();
      const job = await api.create({ every: "1s", ...document, anchor, jobId, executor: receiver.url(`/${jobId}`) });
      created[jobId] = Date.parse(job.nextDue);
    }
    for (const jobId of ["fire_once", "skip", "catch_up"]) await receiver.waitForCount(`/${jobId}`, 2);
    const killedAt = Date.now();
    await runtime.kill9();
    await pause(DOWN_MS - (Date.now() - killedAt));

    const restarted = Date.now();
    runtime = await startRuntime({ stateDir, port: runtime.port });
    const { time: backAt } = await receiver.waitFor((request) => request.path === "/fire_once" && request.time > restarted);
    t.diagnostic(`back in service after ${backAt - restarted} ms, the start of the runtime included`);
    assert.ok(backAt - restarted < 5_000, "back in service within 5 s");
    // Until ordinary seconds follow again, for all of them.
    for (const jobId of ["fire_once", "skip", "catch_up"]) {
      await receiver.waitForCount((request) => request.path === `/${jobId}` && Number(request.headers["x-planned-at"]) > backAt + 1000, 2, 30_000);
    }

    const starts = (jobId) => receiver.of(`/${jobId}`);
    const instantsOf = (run) => {
      if (!run.skipped) return [Date.parse(run.plannedAt)];
      const first = Date.parse(run.skipped.first);
      return Array.from({ length: run.skipped.count }, (_, i) => first + i * 1000);
    };

    for (const jobId of ["fire_once", "skip", "catch_up"]) {
      await t.test(`${jobId}: each instant has exactly one record, and no start is doubled without loss`, async () => {
        const runs = await api.runs(jobId);
        const recorded = runs.flatMap(instantsOf).sort((a, b) => a - b);
        const expected = Array.from({ length: recorded.length }, (_, i) => created[jobId] + i * 1000);
        assert.deepEqual(recorded, expected);
        assert.ok(recorded.at(-1) > backAt);
        // From the receiver's record, never from our own: what it got is what the ledger says.
        const byRun = Map.groupBy(starts(jobId), (request) => request.headers["x-schedule-id"]);
        for (const [scheduleId, requests] of byRun) {
          const run = runs.find((run) => run.scheduleId === scheduleId) ?? (await api.run(scheduleId));
          assert.equal(requests.length, 1 + run.losses, `${scheduleId} came ${requests.length} times`);
          const fences = requests.map((request) => Number(request.headers["x-fence"]));
          assert.deepEqual(fences, [...new Set(fences)].sort((a, b) => a - b));
        }
        for (const run of runs.filter((run) => run.status === "SKIPPED")) {
          assert.match((await api.ledger(run.scheduleId)).at(-1).why, /\S{3}/);
          assert.ok(!byRun.has(run.scheduleId), "a skipped run has no start");
        }
      });
    }

    /** Runs of instants between the kill and the return that were started. */
    const madeUp = async (jobId) => {
      const runs = await api.runs(jobId);
      return runs.filter((run) => run.status !== "SKIPPED" && Date.parse(run.plannedAt) > killedAt && Date.parse(run.triggeredAt) - Date.parse(run.plannedAt) > 1500).reverse();
    };

    await t.test("fire_once: one run, of the newest instant, makes up for all", async () => {
      const runs = await madeUp("fire_once");
      assert.ok(runs.length <= 1, `${runs.length} runs were made up for`);
      const ranges = (await api.runs("fire_once")).filter((run) => run.skipped);
      assert.equal(ranges.length, 1);
      assert.ok(ranges[0].skipped.count > 80);
      assert.match((await api.ledger(ranges[0].scheduleId)).at(-1).why, /one run makes up for all of them/);
      assert.ok(ranges[0].trigger.lateMs > LATE_MS);
    });

    await t.test("skip: nothing is made up for, and a range says why", async () => {
      const ranges = (await api.runs("skip")).filter((run) => run.skipped);
      assert.equal(ranges.length, 1);
      assert.ok(ranges[0].skipped.count > 80);
      assert.match((await api.ledger(ranges[0].scheduleId)).at(-1).why, /the misfire policy is skip/);
    });

    await t.test("catch_up: the newest 7 instants run in their order, one after another, marked late", async () => {
      const runs = (await api.runs("catch_up")).reverse();
      const range = runs.find((run) => run.skipped);
      const caught = runs.filter((run) => run.seq > range.seq).slice(0, 7);
      caught.forEach((run, i) => assert.equal(Date.parse(run.plannedAt), Date.parse(range.skipped.last) + (i + 1) * 1000));
      assert.ok(caught.every((run) => run.status === "SUCCESS"), caught.map((run) => run.status).join());
      assert.ok(caught.slice(0, 5).every((run) => run.trigger.lateMs > 0));
      assert.match((await api.ledger(caught[0].scheduleId))[0].why, /late by \d+ s/);
      const times = caught.map((run) => starts("catch_up").find((request) => request.headers["x-schedule-id"] === run.scheduleId).time);
      assert.deepEqual(times, times.toSorted((a, b) => a - b));
      assert.match((await api.ledger(range.scheduleId)).at(-1).why, /beyond the limits of catching up/);
    });

    await t.test("an instant older than the catch-up window is skipped and says so", async () => {
      const runs = await until("its record", async () => (await api.runs("window")).filter((run) => run.status === "SKIPPED"));
      const whys = await Promise.all(runs.map(async (run) => (await api.ledger(run.scheduleId)).at(-1).why));
      assert.ok(whys.some((why) => /older than the catch-up window|one run makes up/.test(why)), whys.join());
    });
  });

  test("an object that lost its alarm fires again within 120 s, without any cron trigger", { timeout: 150_000 }, async (t) => {
    const world = await startWorld({ objects: true, vars: { TEST_SEAMS: "1", JOB_SHARDS: "1" } });
    t.after(() => world.stop());
    const { api, receiver, runtime } = world;
    await api.create({ jobId: "beat", every: "1s", executor: receiver.url("/beat") });
    await receiver.waitForCount("/beat", 2);
    const lostAt = Date.now();
    assert.equal((await runtime.ask("JOB_SHARD", "shard-0", { seam: { fault: "lose_alarm", job: null } })).json, "done");
    await until("silence", () => Date.now() - receiver.of("/beat").at(-1).time > 2_500, 20_000);
    const { time } = await receiver.waitFor((request) => request.path === "/beat" && request.time > lostAt + 2_000, 120_000);
    t.diagnostic(`fired again ${time - lostAt} ms after its alarm was lost`);
  });
});
