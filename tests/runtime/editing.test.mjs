// Jobs are changed, paused and deleted while they run.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { runOptions, startWorld, until } from "../support/api.mjs";

describe("editing", { concurrency: true }, () => {
  let world, api, receiver;
  before(async () => {
    world = await startWorld();
    ({ api, receiver } = world);
  });
  after(() => world.stop());

  const path = (id) => `/api/v1/jobs/${id}`;
  /** A job with a run that is out until `release` is called. */
  async function running(jobId, document = {}) {
    const gate = Promise.withResolvers();
    receiver.plan(`/${jobId}`, { until: gate.promise }, 200);
    const made = { jobId, name: jobId, executor: receiver.url(`/${jobId}`), timeoutMs: 60_000, ...document };
    await api.create(made);
    const run = await api.runNow(jobId);
    const request = await receiver.waitFor(`/${jobId}`);
    return { document: made, run, request, release: gate.resolve };
  }

  test("an edit leaves the open run as it began and holds from the next one on", async () => {
    const { document, run, release } = await running("edit");
    const elsewhere = receiver.plan("/edited", 200);
    const edited = await api.ok("PUT", path("edit"), { body: { ...document, executor: elsewhere, name: "new name" } });
    assert.deepEqual([edited.revision, edited.name], [2, "new name"]);
    release();
    assert.deepEqual([(await api.settled(run.scheduleId)).status, (await api.run(run.scheduleId)).revision], ["SUCCESS", 1]);
    const next = await api.runNow("edit", { wait: "10s" });
    assert.equal(next.revision, 2);
    assert.equal(receiver.of("/edited").length, 1);
    assert.equal(receiver.of("/edit").length, 1);
  });

  test("what was read can be sent back as it is, and what is left out goes back to its default", async () => {
    await api.create({ jobId: "back", executor: receiver.url("/back"), every: "1h", retryTimes: 3, status: "PAUSED", labels: { team: "a" } });
    const read = await api.job("back");
    const same = await api.ok("PUT", path("back"), { body: read });
    assert.deepEqual({ ...same, revision: 0, updatedAt: 0 }, { ...read, revision: 0, updatedAt: 0 });
    const less = await api.ok("PUT", path("back"), { body: { name: "back", executor: receiver.url("/back") } });
    assert.deepEqual([less.every, less.labels ?? {}, less.retryTimes ?? 0, less.status], [undefined, {}, 0, "PAUSED"]);
  });

  test("a write with an old ETag is refused with 412 and the current revision", async () => {
    await api.create({ jobId: "etag", executor: receiver.url("/etag") });
    const read = await api.call("GET", path("etag"));
    const etag = read.headers.get("etag");
    assert.match(etag, /^"?\d+"?$/);
    const body = { name: "etag", executor: receiver.url("/etag") };
    await api.ok("PUT", path("etag"), { body, headers: { "if-match": etag } });
    for (const [method, sent] of [["PUT", body], ["PATCH", { status: "PAUSED" }], ["DELETE", undefined]]) {
      const problem = await api.refused("revision_mismatch", method, path("etag"), { body: sent, headers: { "if-match": etag } });
      assert.deepEqual([problem.status, problem.revision], [412, 2]);
    }
    assert.equal((await api.job("etag")).status, "ENABLED");
    await api.ok("PUT", path("etag"), { body, headers: { "if-match": "*" } });
    const both = await Promise.all([1, 2].map(() => api.call("PUT", path("etag"), { body, headers: { "if-match": '"3"' } })));
    assert.deepEqual(both.map((answer) => answer.status).sort(), [200, 412]);
  });

  test("a save of the schedule within its second does not fire twice", async () => {
    const due = (Math.floor(Date.now() / 1000) + 3) * 1000;
    const document = { jobId: "saved", name: "saved", every: "1h", anchor: new Date(due).toISOString(), executor: receiver.url("/saved") };
    await api.create(document);
    for (const timeoutMs of [5_000, 6_000, 7_000]) await api.ok("PUT", path("saved"), { body: { ...document, timeoutMs } });
    const request = await receiver.waitFor("/saved");
    assert.equal(Number(request.headers["x-planned-at"]), due);
    const run = await api.settled(request.headers["x-schedule-id"]);
    assert.equal(run.revision, 4);
    assert.equal((await api.runs("saved")).length, 1);
    assert.equal(receiver.of("/saved").length, 1);
  });

  test("a paused job has no occurrences, lets its open run end, and still runs on request", async () => {
    const gate = Promise.withResolvers();
    receiver.plan("/paused", { until: gate.promise }, 200);
    await api.create({ jobId: "paused", every: "1s", executor: receiver.url("/paused"), timeoutMs: 60_000 });
    const open = (await receiver.waitFor("/paused")).headers["x-schedule-id"];
    const paused = await api.setStatus("paused", "PAUSED");
    assert.deepEqual([paused.status, paused.nextDue], ["PAUSED", undefined]);
    const before = (await api.runs("paused")).length;
    gate.resolve();
    assert.equal((await api.settled(open)).status, "SUCCESS");
    const manual = await api.runNow("paused", { wait: "10s" });
    assert.equal(manual.status, "SUCCESS");
    // Two seconds of pause leave no record, and are not made up for.
    const pausedAt = Date.parse(paused.updatedAt);
    await until("two seconds of pause", () => Date.now() > pausedAt + 2500, 5_000);
    assert.equal((await api.runs("paused")).length, before + 1);
    const resumed = await api.setStatus("paused", "ENABLED");
    const next = Date.parse(resumed.nextDue);
    assert.ok(next > Date.now() - 1000 && next <= Date.parse(resumed.updatedAt) + 1000);
    const request = await receiver.waitFor((one) => one.path === "/paused" && Number(one.headers["x-planned-at"]) >= next);
    assert.equal(Number(request.headers["x-planned-at"]), next);
    const missed = (await api.runs("paused")).filter((run) => run.trigger.kind !== "manual" && Date.parse(run.plannedAt) > pausedAt && Date.parse(run.plannedAt) < next);
    assert.deepEqual(missed, []);
  });

  test("DISABLED is another word for PAUSED, at creation too", async () => {
    const job = await api.create({ jobId: "disabled", every: "1s", executor: receiver.url("/disabled"), status: "DISABLED" });
    assert.deepEqual([job.status, job.nextDue], ["PAUSED", undefined]);
    assert.equal((await api.setStatus("disabled", "DISABLED")).status, "PAUSED");
  });

  test("deleting a job stops its active run, which stays readable", async () => {
    const { run, request } = await running("deleted", { retryTimes: 3, retryDelays: [100] });
    await api.ok("DELETE", path("deleted"));
    await receiver.waitForBreak(request);
    await api.refused("job_not_found", "GET", path("deleted"));
    const end = await api.settled(run.scheduleId);
    assert.equal(end.status, "CANCELLED");
    assert.match((await api.ledger(run.scheduleId)).at(-1).why, /the job was deleted/);
    for (const [method, at, options] of [
      ["PUT", path("deleted"), { body: { name: "x", executor: receiver.url("/x") } }],
      ["PATCH", path("deleted"), { body: { status: "ENABLED" } }],
      ["DELETE", path("deleted"), {}],
      ["POST", `${path("deleted")}/runs`, runOptions()],
    ]) {
      const answer = await api.call(method, at, options);
      assert.ok(["job_not_found", "job_deleted"].includes(answer.json.code), `${method} -> ${answer.text}`);
    }
    const listed = (await api.ok("GET", "/api/v1/jobs?limit=200")).items.map((job) => job.jobId);
    assert.ok(!listed.includes("deleted"));
  });

  test("a deleted job can be made anew, with a history of its own", async () => {
    await api.create({ jobId: "anew", every: "1s", executor: receiver.url("/anew-1") });
    const first = await receiver.waitFor("/anew-1");
    await api.settled(first.headers["x-schedule-id"]);
    await api.ok("DELETE", path("anew"));
    const made = await until("the id is free", async () => {
      const answer = await api.call("POST", "/api/v1/jobs", { body: { jobId: "anew", name: "second", every: "1s", executor: receiver.url("/anew-2") } });
      if (answer.status !== 201) assert.ok(["job_exists", "job_deleted"].includes(answer.json.code), answer.text);
      return answer.status === 201 && answer.json;
    });
    assert.deepEqual([made.name, made.revision], ["second", 1]);
    const second = await receiver.waitFor("/anew-2");
    assert.notEqual(second.headers["x-schedule-id"], first.headers["x-schedule-id"]);
    const runs = await api.runs("anew");
    assert.ok(runs.every((run) => run.scheduleId !== first.headers["x-schedule-id"]));
    assert.equal(runs.at(-1).seq, 1);
    assert.equal((await api.run(first.headers["x-schedule-id"])).status, "SUCCESS");
  });

  test("an existing job is never overwritten by a second creation", async () => {
    await api.create({ jobId: "exists", executor: receiver.url("/exists") });
    const body = { jobId: "exists", name: "other", executor: receiver.url("/other") };
    assert.equal((await api.refused("job_exists", "POST", "/api/v1/jobs", { body })).revision, 1);
    const race = await Promise.all([1, 2, 3, 4].map(() => api.call("POST", "/api/v1/jobs", { body: { ...body, jobId: "race" } })));
    assert.deepEqual(race.map((answer) => answer.status).sort(), [201, 409, 409, 409]);
    assert.equal((await api.job("exists")).name, "exists");
  });

  test("the list finds jobs by text, status and label, page by page", async () => {
    const names = ["list-a", "list-b", "list-c"];
    for (const jobId of names) await api.create({ jobId, name: `Order ${jobId}`, executor: receiver.url("/list"), labels: { team: "list", n: jobId }, status: jobId === "list-b" ? "PAUSED" : "ENABLED" });
    const find = async (query) => (await api.ok("GET", `/api/v1/jobs?${query}`)).items.map((job) => job.jobId);
    await until("the jobs are in the list", async () => (await find("label=team%3Dlist")).length === 3);
    assert.deepEqual(await find("q=ORDER"), names);
    assert.deepEqual(await find("q=list-a"), ["list-a"]);
    assert.deepEqual(await find("label=n"), names);
    assert.deepEqual(await find("label=team%3Dlist&status=PAUSED"), ["list-b"]);
    const first = await api.ok("GET", "/api/v1/jobs?label=team%3Dlist&limit=2");
    const rest = await api.ok("GET", `/api/v1/jobs?label=team%3Dlist&limit=2&cursor=${encodeURIComponent(first.nextCursor)}`);
    assert.deepEqual([...first.items, ...rest.items].map((job) => job.jobId), names);
    assert.equal(rest.nextCursor, undefined);
  });
});
