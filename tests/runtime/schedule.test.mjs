// Bounds, blackouts, jitter, warnings and previews on the running thing; the rules themselves are tested in core.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { startWorld, until } from "../support/api.mjs";

describe("schedules", { concurrency: true }, () => {
  let world, api, receiver;
  before(async () => {
    world = await startWorld({ vars: { JOB_SHARDS: "1" } });
    ({ api, receiver } = world);
  });
  after(() => world.stop());

  const plannedAt = (request) => Number(request.headers["x-planned-at"]);
  const inSeconds = (n) => new Date((Math.floor(Date.now() / 1000) + n) * 1000);

  // A second apart: on a busy machine one may still run when the next comes, which is no matter here.
  test("nothing fires before startAt, nor at or after endAt", async () => {
    const [startAt, endAt] = [inSeconds(3), inSeconds(6)];
    const job = await api.create({ jobId: "bounded", every: "1s", overlap: "allow", executor: receiver.url("/bounded"), startAt: startAt.toISOString(), endAt: endAt.toISOString() });
    assert.equal(Date.parse(job.nextDue), startAt.getTime());
    const requests = await receiver.waitForCount("/bounded", 3);
    assert.deepEqual(requests.map(plannedAt), [0, 1000, 2000].map((ms) => startAt.getTime() + ms));
    assert.equal((await api.job("bounded")).nextDue, undefined);
    await until("a second after the end", () => Date.now() > endAt.getTime() + 1000);
    assert.equal(receiver.of("/bounded").length, 3);
  });

  test("an occurrence in a blackout is recorded as skipped and says so", async () => {
    const [from, end] = [inSeconds(3), inSeconds(5)];
    await api.create({ jobId: "dark", every: "1s", overlap: "allow", executor: receiver.url("/dark"), blackouts: [{ from: from.toISOString(), until: end.toISOString() }] });
    await receiver.waitFor((request) => request.path === "/dark" && plannedAt(request) >= end.getTime(), 12_000);
    const skipped = (await api.runs("dark", "&status=SKIPPED")).reverse();
    const dark = [];
    for (const run of skipped) if (/blackout/.test((await api.ledger(run.scheduleId)).at(-1).why)) dark.push(Date.parse(run.plannedAt));
    assert.deepEqual(dark, [from.getTime(), from.getTime() + 1000]);
    assert.ok(!receiver.of("/dark").some((request) => plannedAt(request) >= from.getTime() && plannedAt(request) < end.getTime()));
  });

  test("jitter is one fixed amount per job", async () => {
    const jobs = Array.from({ length: 6 }, (_, n) => `jitter-${n}`);
    for (const jobId of jobs) await api.create({ jobId, every: "2s", executor: receiver.url(`/${jobId}`), jitterMs: 1500 });
    const shares = [];
    for (const jobId of jobs) {
      const late = (await receiver.waitForCount(`/${jobId}`, 2)).map((request) => request.time - plannedAt(request));
      assert.ok(late.every((ms) => ms >= 0 && ms < 2300), `${jobId}: ${late}`);
      assert.ok(Math.abs(late[0] - late[1]) < 700, `${jobId}: ${late}`);
      shares.push(Math.min(...late));
    }
    assert.ok(Math.max(...shares) - Math.min(...shares) > 200, `shares: ${shares}`);
  });

  test("a run over its warnAfterMs is noted as maybe stuck, once, and shown as running after 5 s", { timeout: 30_000 }, async () => {
    const gate = Promise.withResolvers();
    receiver.plan("/stuck", { until: gate.promise });
    await api.create({ jobId: "stuck", executor: receiver.url("/stuck"), timeoutMs: 60_000, warnAfterMs: 500 });
    const { scheduleId } = await api.runNow("stuck");
    const notes = async () => (await api.ledger(scheduleId)).filter((row) => /may be stuck/.test(row.why));
    await until("the note", async () => (await notes()).length > 0);
    await api.settled(scheduleId, 10_000, (run) => run.status === "RUNNING");
    // Also in the list, which has runs that take long while they are still running.
    await until("its row", async () => (await api.ok("GET", "/api/v1/runs?status=RUNNING")).items.some((run) => run.scheduleId === scheduleId));
    gate.resolve();
    await api.settled(scheduleId);
    assert.equal((await notes()).length, 1);
    await until("its last row", async () => (await api.ok("GET", "/api/v1/runs?status=SUCCESS&limit=200")).items.some((run) => run.scheduleId === scheduleId));
  });

  test("sixty callees that hang do not take another job's second from it", { timeout: 60_000 }, async () => {
    receiver.plan("/hang", { hang: true });
    const anchor = inSeconds(6).toISOString();
    const hanging = Array.from({ length: 60 }, (_, n) => ({ jobId: `hang-${n}`, every: "1h", anchor, executor: receiver.url("/hang"), timeoutMs: 4000 }));
    await Promise.all([...hanging, { jobId: "quick", every: "1s", executor: receiver.url("/quick") }].map((job) => api.create(job)));
    await receiver.waitForCount("/hang", 60, 20_000);
    const due = Date.parse(anchor);
    const requests = await receiver.waitForCount((request) => request.path === "/quick" && plannedAt(request) >= due, 4, 20_000);
    for (const request of requests) assert.ok(request.time - plannedAt(request) < 1000, `${request.time - plannedAt(request)} ms late`);
    const late = receiver.of("/hang").map((request) => request.time - plannedAt(request));
    assert.ok(Math.max(...late) < 2500, `the last of the sixty came ${Math.max(...late)} ms late`);
  });

  test("a preview tells the next fires, what is odd about them, and doubts", async () => {
    const preview = (body) => api.ok("POST", "/api/v1/jobs/preview", { body });
    const berlin = await preview({ cron: "0 30 2 28 3 ? 2027", timeZone: "Europe/Berlin" });
    assert.equal(berlin.next.length, 1);
    // 02:30 does not exist on that day: the one rule fires at the end of the gap.
    assert.deepEqual([berlin.next[0].at, berlin.next[0].local], ["2027-03-28T01:00:00Z", "2027-03-28T03:00:00+02:00"]);
    assert.ok(berlin.next[0].note.en && berlin.next[0].note.zh);
    const shanghai = await preview({ cron: "0 9 * * 1", dialect: "unix", timeZone: "Asia/Shanghai", count: 3 });
    assert.equal(shanghai.next.length, 3);
    assert.ok(shanghai.next.every((fire) => fire.weekday.en === "Monday" && fire.at.endsWith("T01:00:00Z")), JSON.stringify(shanghai.next));
    assert.ok(shanghai.tzdbVersion);
    const doubtful = await preview({ cron: "* */15 * * * *", dialect: "unix-seconds" });
    assert.ok(doubtful.warnings.some((warning) => warning.suggestion), JSON.stringify(doubtful.warnings));
    const never = await api.refused("invalid_document", "POST", "/api/v1/jobs", { body: { name: "x", cron: "0 0 0 30 2 ?", executor: receiver.url("/x") } });
    assert.deepEqual([never.errors[0].field, never.errors[0].code], ["cron", "never_fires"]);
    const bad = await api.refused("invalid_document", "POST", "/api/v1/jobs", { body: { name: "x", cron: "0 0 0 ? * 6#2?", executor: receiver.url("/x") } });
    assert.deepEqual([bad.errors[0].field, bad.errors[0].span], ["cron", [13, 14]]);
  });

  test("an ambiguous cron text is refused with what it could mean, and the dialect is stored", async () => {
    const sunday = { jobId: "sunday", name: "x", cron: "0 17 * * 1", dialect: "unix", executor: receiver.url("/x"), status: "PAUSED" };
    const job = await api.create(sunday);
    assert.deepEqual([job.dialect, job.timeZone], ["unix", "UTC"]);
    assert.match(job.scheduleText.en, /Monday/);
    const quartz = await api.create({ ...sunday, jobId: "quartz", cron: "0 0 17 ? * 1", dialect: undefined });
    assert.equal(quartz.dialect, "quartz");
    assert.match(quartz.scheduleText.en, /Sunday/);
  });
});
