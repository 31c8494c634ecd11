// Jobs fire: each kind of schedule, at its planned second, once.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { runOptions, startWorld, until } from "../support/api.mjs";

describe("firing", { concurrency: true }, () => {
  let world, api, receiver;
  before(async () => {
    world = await startWorld();
    ({ api, receiver } = world);
  });
  after(() => world.stop());

  const plannedAt = (request) => Number(request.headers["x-planned-at"]);

  test("an every-second job starts once for each second, within it", async () => {
    await api.create({ jobId: "every", every: "1s", executor: receiver.url("/every") });
    const fired = await receiver.waitForCount("/every", 10, 15_000);
    const planned = fired.map(plannedAt);
    planned.forEach((at, i) => assert.equal(at, planned[0] + i * 1000, `planned instants: ${planned}`));
    for (const request of fired) {
      const late = request.time - plannedAt(request);
      assert.ok(late >= 0 && late < 1000, `the start planned for ${plannedAt(request)} came ${late} ms after it`);
    }
    assert.equal(new Set(fired.map((request) => request.headers["x-schedule-id"])).size, fired.length);
  });

  test("a cron line fires on the wall clock of its zone", async () => {
    // 8 hours from UTC, all year: the next but one second from now, as Shanghai's clock shows it.
    const due = (Math.floor(Date.now() / 1000) + 3) * 1000;
    const local = new Date(due + 8 * 3_600_000);
    const cron = `${local.getUTCSeconds()} ${local.getUTCMinutes()} ${local.getUTCHours()} * * ?`;
    const job = await api.create({ jobId: "shanghai", cron, dialect: "quartz", timeZone: "Asia/Shanghai", executor: receiver.url("/shanghai") });
    assert.equal(Date.parse(job.nextDue), due);
    assert.match(job.nextDueLocal, /\+08:00$/);
    const request = await receiver.waitFor("/shanghai", 10_000);
    assert.equal(plannedAt(request), due);
    assert.ok(request.time - due < 1000);
    const next = await until("the next day's instant", async () => {
      const { nextDue } = await api.job("shanghai");
      return Date.parse(nextDue) !== due && Date.parse(nextDue);
    });
    assert.equal(next, due + 86_400_000);
  });

  test("an at job fires once and has no next instant", async () => {
    const at = new Date(Date.now() + 2000);
    await api.create({ jobId: "once", at: at.toISOString(), executor: receiver.url("/once") });
    const request = await receiver.waitFor("/once");
    assert.equal(plannedAt(request), at.getTime());
    const run = await api.settled(request.headers["x-schedule-id"]);
    assert.equal(run.status, "SUCCESS");
    const job = await api.job("once");
    assert.equal(job.nextDue, undefined);
    assert.equal(job.recent.length, 1);
  });

  test("a request carries the headers and the filled body of the design", async () => {
    const executor = {
      url: receiver.url("/headers?a=b"),
      method: "PUT",
      headers: { Authorization: "Bearer of-the-user", "X-Team": "blue" },
      body: { run: "{{scheduleId}}", job: "{{jobId}}", at: "{{plannedAt}}", n: "{{attempt}}", fence: "{{fence}}" },
    };
    await api.create({ jobId: "headers", executor });
    const run = await api.runNow("headers", { wait: "10s" });
    const request = await receiver.waitFor("/headers");
    const { headers } = request;
    assert.equal(request.method, "PUT");
    assert.equal(request.path, "/headers?a=b");
    assert.equal(headers["idempotency-key"], run.scheduleId);
    assert.equal(headers["x-schedule-id"], run.scheduleId);
    assert.equal(headers["x-job-id"], "headers");
    assert.equal(headers["x-attempt"], "1");
    assert.equal(headers["x-fence"], String(run.fence));
    assert.equal(Number(headers["x-planned-at"]), Date.parse(run.plannedAt));
    assert.equal(headers.authorization, "Bearer of-the-user");
    assert.equal(headers["x-team"], "blue");
    assert.match(headers["content-type"], /^application\/json/);
    assert.match(headers["user-agent"], /^Cronwright\//);
    assert.deepEqual(request.json, {
      run: run.scheduleId, job: "headers", at: headers["x-planned-at"], n: "1", fence: String(run.fence),
    });
    // A job that did not ask for the accepted mode is given no token to report with.
    assert.equal(headers["x-run-token"], undefined);
  });

  test("parameters of a run fill its body as JSON and are its body when there is no template", async () => {
    await api.create({ jobId: "template", executor: { url: receiver.url("/template"), body: '{"input":{{params}},"again":"{{other}}"}' } });
    await api.create({ jobId: "bare", executor: receiver.url("/bare") });
    const params = { name: 'a "quoted" {{fence}} 名', n: 7 };
    await api.runNow("template", { params, wait: "10s" });
    await api.runNow("bare", { params, wait: "10s" });
    assert.deepEqual((await receiver.waitFor("/template")).json, { input: params, again: "{{other}}" });
    assert.deepEqual((await receiver.waitFor("/bare")).json, params);
  });

  test("two manual runs with one Idempotency-Key are one run", async () => {
    receiver.plan("/manual", { delayMs: 1500, body: "first\nlast line" });
    await api.create({ jobId: "manual", executor: receiver.url("/manual") });
    const path = "/api/v1/jobs/manual/runs";
    const [first, second] = await Promise.all([1, 2].map(() => api.call("POST", path, runOptions({ key: "k-1" }))));
    assert.deepEqual([first.status, second.status].sort(), [200, 201]);
    assert.equal(first.json.scheduleId, second.json.scheduleId);
    assert.match((first.status === 201 ? first : second).headers.get("location"), new RegExp(`${first.json.scheduleId}$`));
    const third = await api.call("POST", `${path}?wait=25s`, runOptions({ key: "k-1" }));
    assert.equal(third.status, 200);
    assert.equal(third.json.scheduleId, first.json.scheduleId);
    assert.equal(third.json.status, "SUCCESS");
    assert.equal(third.json.summary, "last line");
    assert.equal(third.json.trigger.kind, "manual");
    assert.equal(third.json.trigger.by, "tests");
    assert.equal(receiver.of("/manual").length, 1);
    const other = await api.runNow("manual", { key: "k-2", wait: "10s" });
    assert.notEqual(other.scheduleId, first.json.scheduleId);
    assert.equal((await api.runs("manual")).length, 2);
  });

  test("waiting ends with 202 and where to ask when the run has not ended in time", async () => {
    receiver.plan("/slow", { delayMs: 2500 });
    await api.create({ jobId: "slow", executor: receiver.url("/slow") });
    const answer = await api.call("POST", "/api/v1/jobs/slow/runs?wait=1s", runOptions());
    assert.equal(answer.status, 202);
    const location = answer.headers.get("location");
    assert.equal(new URL(location, api.url).pathname, `/api/v1/runs/${answer.json.scheduleId}`);
    assert.equal((await api.settled(answer.json.scheduleId)).status, "SUCCESS");
    assert.equal((await api.ok("GET", "/api/v1/tasks/slow")).scheduleId, answer.json.scheduleId);
  });

  test("a run's ledger, output and list row say what happened", async () => {
    receiver.plan("/history", { status: 200, body: "one\ntwo\nthree" });
    await api.create({ jobId: "history", executor: receiver.url("/history") });
    const run = await api.runNow("history", { wait: "10s" });
    const rows = await api.ledger(run.scheduleId);
    assert.deepEqual(rows.map((row) => row.to), ["TRIGGERED", "DISPATCHED", "SUCCESS"]);
    assert.deepEqual([rows[0].by, rows[0].why], ["tests", "run on request"]);
    const output = await api.call("GET", `/api/v1/runs/${run.scheduleId}/output`);
    assert.equal(output.text, "one\ntwo\nthree");
    assert.match(output.headers.get("content-disposition"), /attachment/);
    assert.equal(output.headers.get("x-content-type-options"), "nosniff");
    const listed = await until("the run's row in the list", async () => {
      const page = await api.ok("GET", "/api/v1/runs?limit=200");
      return page.items.find((row) => row.scheduleId === run.scheduleId && row.status === "SUCCESS");
    });
    assert.equal(listed.summary, "three");
  });

  test("a replay runs with the same input and names the run it repeats", async () => {
    await api.create({ jobId: "again", executor: receiver.url("/again") });
    const first = await api.runNow("again", { params: { n: 1 }, wait: "10s" });
    const headers = { "idempotency-key": "r-1" };
    const replay = await api.ok("POST", `/api/v1/runs/${first.scheduleId}/replay`, { headers });
    const repeated = await api.call("POST", `/api/v1/runs/${first.scheduleId}/replay`, { headers });
    assert.equal(repeated.status, 200);
    assert.equal(repeated.json.scheduleId, replay.scheduleId);
    assert.deepEqual([replay.trigger.kind, replay.trigger.run], ["replay", first.scheduleId]);
    const [one, two] = await receiver.waitForCount("/again", 2);
    assert.deepEqual(two.json, one.json);
    assert.equal((await api.settled(replay.scheduleId)).status, "SUCCESS");
    assert.equal((await api.run(first.scheduleId)).endedAt, first.endedAt);
  });
});
