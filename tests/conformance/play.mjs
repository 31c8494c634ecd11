// One scenario on the real runtime: its jobs, callees and receivers, its acts, and what was observed.
import assert from "node:assert/strict";
import { ended, runOptions, runPath, until } from "../support/api.mjs";
import { lostAnswer } from "../support/config.mjs";
import { startReceiver } from "../support/receiver.mjs";
import { startRuntime } from "../support/runtime.mjs";

/** How long anything may take on a machine that has much to do. */
const PATIENCE_MS = 45_000;

export class Play {
  /** Ids of runs, by job: those of a deleted job are in no list. */
  #known = {};
  #gates = {};

  /** `world` has a runtime and an API; `name` is part of every id, so that plays share a world. */
  constructor(world, scenario, name) {
    this.world = world;
    this.scenario = scenario;
    this.name = name;
  }

  get api() {
    return this.world.api;
  }

  id(job) {
    return `${this.name}-${job}`;
  }

  /** Plays it all, and gives what was observed. */
  async observed() {
    const { jobs, acts, quietMs = 700 } = this.scenario;
    this.callees = await startReceiver();
    this.receivers = await startReceiver();
    try {
      await this.api.ok("POST", "/api/v1/apps", { body: { appId: this.name } });
      for (const job of Object.keys(jobs)) await this.#create(job);
      for (const act of acts) {
        await this.#when(act);
        await this.#do(act);
      }
      await this.#atRest();
      // That nothing more happens can only be seen by waiting for it.
      await new Promise((resolve) => setTimeout(resolve, quietMs));
      return await this.#observe();
    } finally {
      await this.callees.down();
      if (!this.isDown) await this.receivers.down();
    }
  }

  async #create(job) {
    this.#known[job] = new Set();
    this.#gates[job] = [];
    const { callee, callback } = this.scenario.jobs[job];
    this.callees.plan(`/${job}`, ...callee.map((reply) => this.#answer(reply, job)));
    if (callback) this.receivers.plan(`/${job}`, ...callback.map((reply) => this.#answer(reply, job)));
    await this.api.create(this.#document(job));
  }

  /** The job's own form as a document of the API. */
  #document(job, change = {}) {
    const form = { ...this.scenario.jobs[job], ...change };
    const { at, every, after, afterFailure, retries = [], overlap, timeoutMs = 20_000, deadlineMs, mode, callback } = form;
    const url = this.callees.url(`/${job}`);
    return {
      jobId: this.id(job),
      name: this.id(job),
      executor: mode ? { url, mode } : url,
      at: at && new Date(Date.now() + at * 1000).toISOString(),
      every: every && `${every}s`,
      after: after ? this.id(after) : afterFailure && { jobId: this.id(afterFailure), on: "failure" },
      retryTimes: retries.length,
      retryDelays: retries.length > 0 ? retries : undefined,
      overlap,
      timeoutMs,
      deadlineMs,
      ...(callback && { callbackUrl: this.receivers.url(`/${job}`), callbackApp: this.name }),
    };
  }

  /** A reply of a scenario as the receiver of these tests takes it. */
  #answer(reply, job) {
    if (typeof reply === "number") return reply;
    if (reply.hang) return { hang: true };
    if (reply.closes) return { reset: true };
    if (reply.loseAnswer) return { status: 200, body: lostAnswer };
    if (!reply.hold) return reply;
    return () => {
      const gate = Promise.withResolvers();
      this.#gates[job].push(gate);
      return { until: gate.promise };
    };
  }

  async #when({ when = {}, job: own }) {
    const { job = own, starts, deliveries, ...counts } = when;
    if (starts) await this.callees.waitForCount(`/${job}`, starts, PATIENCE_MS);
    if (deliveries) await this.receivers.waitForCount(`/${job}`, deliveries, PATIENCE_MS);
    const is = {
      ended: (run) => ended.includes(run.status),
      running: (run) => run.status === "RUNNING",
      lost: (run) => run.status === "LOST",
      waiting: (run) => run.status === "TRIGGERED" && run.attempt > 0,
    };
    for (const [what, count] of Object.entries(counts)) {
      assert.ok(is[what], `a condition that this arm does not know: ${what}`);
      const enough = async () => (await this.#runs(job)).filter(is[what]).length >= count;
      await until(`${count} ${what} runs of ${job}`, enough, PATIENCE_MS);
    }
  }

  async #do(act) {
    const answer = await this.#deed(act);
    if (answer === undefined) return;
    const refused = answer.status >= 400 && answer.status < 500;
    const said = `${act.do} ${act.job}: ${answer.status} ${answer.text.slice(0, 300)}`;
    assert.ok(act.refused ? refused : answer.status < 300, said);
  }

  async #deed({ do: deed, job, key, run, to }) {
    const path = `/api/v1/jobs/${this.id(job)}`;
    const status = (word) => this.api.call("PATCH", path, { body: { status: word } });
    switch (deed) {
      case "run":
        return this.api.call("POST", runPath(this.id(job)), runOptions({ key: `${this.name} ${job} ${key}` }));
      case "cancel":
        return this.api.call("POST", `/api/v1/runs/${await this.#run(job, run)}/cancel`);
      case "complete":
        return this.#complete(job, await this.#run(job, run));
      case "pause":
        return status("PAUSED");
      case "resume":
        return status("ENABLED");
      case "edit":
        return this.api.call("PUT", path, { body: this.#document(job, to) });
      case "delete":
        return this.api.call("DELETE", path);
      case "release":
        return void this.#gates[job].shift().resolve();
      case "down":
        this.isDown = true;
        return this.receivers.down();
      case "up":
        await this.receivers.up();
        this.isDown = false;
        return undefined;
      case "kill":
        return this.#kill();
      default:
        assert.fail(`an act that this arm does not know: ${deed}`);
    }
  }

  /** The callee's own word, with the token that its request brought. */
  async #complete(job, scheduleId) {
    const { headers } = this.callees.of(`/${job}`).findLast((request) => request.headers["x-schedule-id"] === scheduleId);
    const body = { fence: Number(headers["x-fence"]), status: "SUCCESS" };
    const options = { headers: { "x-run-token": headers["x-run-token"] }, body };
    return this.api.as(undefined).call("POST", `/api/v1/runs/${scheduleId}/complete`, options);
  }

  async #kill() {
    const { runtime } = this.world;
    await runtime.kill9();
    this.world.runtime = await startRuntime({ stateDir: runtime.stateDir, port: runtime.port });
    // What a minute would bring: every object is looked after, endpoints by whoever looks at them.
    await this.world.runtime.tick();
    for (const { endpointId } of (await this.api.ok("GET", "/api/v1/endpoints?limit=200")).items) {
      await this.api.ok("GET", `/api/v1/endpoints/${endpointId}`);
    }
  }

  /** Runs of a job, oldest first, whether or not the job is still there. */
  async #runs(job) {
    const known = this.#known[job];
    for (const { headers } of this.callees.of(`/${job}`)) known.add(headers["x-schedule-id"]);
    const listed = await this.api.call("GET", `/api/v1/jobs/${this.id(job)}/runs?limit=200`);
    for (const run of listed.json.items ?? []) known.add(run.scheduleId);
    const runs = await Promise.all([...known].map((scheduleId) => this.api.run(scheduleId)));
    return runs.toSorted((one, other) => one.seq - other.seq);
  }

  async #run(job, seq) {
    return (await this.#runs(job)).find((run) => run.seq === seq).scheduleId;
  }

  /** Until there is as much as is expected, and all of it has come to its end. Less shows in what is seen. */
  async #atRest() {
    const rests = (run) => ended.includes(run.status) && run.callback !== "PENDING";
    const enough = async () => {
      for (const [job, expected] of Object.entries(this.scenario.expect)) {
        const runs = await this.#runs(job);
        if (runs.length < expected.length || !runs.every(rests)) return false;
      }
      return true;
    };
    await until("all at rest", enough, PATIENCE_MS).catch(() => {});
  }

  async #observe() {
    const runs = {};
    const names = new Map();
    for (const job of Object.keys(this.scenario.jobs)) {
      const found = await this.#runs(job);
      for (const run of found) names.set(run.scheduleId, `${job}/${run.seq}`);
      runs[job] = await Promise.all(found.map((run, i) => this.#seen(job, run, this.scenario.expect[job]?.[i])));
    }
    const fences = (job) => this.callees.of(`/${job}`).map((request) => Number(request.headers["x-fence"]));
    const grows = (list) => list.every((fence, i) => i === 0 || fence > list[i - 1]);
    for (const job of Object.keys(runs)) assert.ok(grows(fences(job)), `fences of ${job}: ${fences(job)}`);
    const heard = this.receivers.requests.map((request) => names.get(request.headers["x-schedule-id"]));
    return { runs, deliveries: [...new Set(heard)] };
  }

  /** One run as the scenario words it; of what only some scenarios expect, as much as this one does. */
  async #seen(job, run, expected = {}) {
    const rows = await this.api.ledger(run.scheduleId);
    const states = rows.map((row) => row.to);
    const about = (request) => request.headers["x-schedule-id"] === run.scheduleId;
    const deliveries = this.receivers.of(`/${job}`).filter(about);
    const bodies = new Set(deliveries.map((request) => request.text));
    assert.ok(bodies.size <= 1, `bodies of ${run.scheduleId}: ${[...bodies].join(" | ")}`);
    const seen = {
      state: run.status,
      attempts: run.attempt,
      ledger: states.filter((state, i) => state !== states[i - 1]),
      starts: this.callees.of(`/${job}`).filter(about).length,
      callback: run.callback,
      deliveries: deliveries.length,
    };
    if (expected.revision !== undefined) seen.revision = run.revision;
    if (expected.againMs !== undefined) seen.againMs = gaps(rows, expected.againMs);
    const late = Date.parse(run.startedAt) - Date.parse(run.plannedAt);
    if (expected.lateMs !== undefined) seen.lateMs = Math.max(late, expected.lateMs);
    return seen;
  }
}

/** The gaps between attempts where they are shorter than expected; where they are not, what was expected. */
function gaps(rows, expected) {
  const times = rows.filter((row) => row.to === "DISPATCHED" && /^attempt/.test(row.why)).map((row) => Date.parse(row.at));
  return times.slice(1).map((time, i) => Math.min(time - times[i], expected[i] ?? 0));
}
