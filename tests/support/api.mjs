// The API as tests use it. Every answer is held against the OpenAPI document.
//
//   const { runtime, receiver, api } = await startWorld();
//   await api.create({ jobId: "a", every: "1s", executor: receiver.url("/a") });
//   const run = await api.runNow("a", { wait: "25s" });
//   await world.stop();
import assert from "node:assert/strict";
import { createHmac, randomUUID } from "node:crypto";
import { breaches } from "./contract.mjs";
import { startReceiver } from "./receiver.mjs";
import { startRuntime, testSecret } from "./runtime.mjs";

export const ended = ["SUCCESS", "FAILED", "TIMED_OUT", "CANCELLED", "SKIPPED"];
export const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** The one-time code of the deployer: only who has the secret can make it. */
export function setUpCode(secret = testSecret, expiry = Date.now() + 15 * 60_000) {
  return `${expiry}.${createHmac("sha256", secret).update(`setup-code.v1.${expiry}`).digest("hex")}`;
}

/** Looks until `look` gives something, and gives that. */
export async function until(what, look, ms = 10_000, everyMs = 50) {
  const end = Date.now() + ms;
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== false && found !== null) return found;
    if (Date.now() > end) throw new Error(`${what}: not within ${ms} ms`);
    await pause(everyMs);
  }
}

export class Api {
  constructor(url, token) {
    this.url = url;
    this.token = token;
  }

  /** The same Worker as somebody else. */
  as(token) {
    return new Api(this.url, token);
  }

  /**
   * One request. `body` is sent as JSON, `raw` as it is. Fails when the answer breaks the contract, or is
   * a 500; an answer of any other kind is the caller's to judge.
   */
  async call(method, path, { body, raw, headers = {}, contract = true, ms = 40_000 } = {}) {
    const sent = { ...headers };
    if (this.token) sent.authorization ??= `Bearer ${this.token}`;
    if (body !== undefined) sent["content-type"] ??= "application/json";
    const response = await fetch(this.url + path, {
      method,
      headers: sent,
      body: raw ?? (body === undefined ? undefined : JSON.stringify(body)),
      redirect: "manual",
      signal: AbortSignal.timeout(ms),
    });
    const text = await response.text();
    const answer = { status: response.status, headers: response.headers, text, json: undefined };
    if ((response.headers.get("content-type") ?? "").includes("json") && text) answer.json = JSON.parse(text);
    if (contract) assert.deepEqual(breaches(method, path, answer), [], `${method} ${path} -> ${answer.status} ${text.slice(0, 500)}`);
    return answer;
  }

  /** One request that has to succeed; gives its JSON. */
  async ok(method, path, options) {
    const answer = await this.call(method, path, options);
    assert.ok(answer.status < 300, `${method} ${path} -> ${answer.status} ${answer.text.slice(0, 1000)}`);
    return answer.json;
  }

  /** One request that has to be refused with that code; gives the problem. */
  async refused(code, method, path, options) {
    const answer = await this.call(method, path, options);
    assert.equal(answer.json?.code, code, `${method} ${path} -> ${answer.status} ${answer.text.slice(0, 1000)}`);
    assert.match(answer.headers.get("content-type"), /^application\/problem\+json/);
    return answer.json;
  }

  /** Creates a job; what is left out of the document is made up. */
  create(document) {
    return this.ok("POST", "/api/v1/jobs", { body: { name: document.jobId, ...document } });
  }

  job(id) {
    return this.ok("GET", `/api/v1/jobs/${id}`);
  }

  setStatus(id, status) {
    return this.ok("PATCH", `/api/v1/jobs/${id}`, { body: { status } });
  }

  /** Runs a job now; with `wait` gives the run when it has ended. */
  runNow(id, options) {
    return this.ok("POST", runPath(id, options), runOptions(options));
  }

  run(scheduleId) {
    return this.ok("GET", `/api/v1/runs/${scheduleId}`);
  }

  /** The run once it has ended, or is as `is` wants it. */
  settled(scheduleId, ms = 15_000, is = (run) => ended.includes(run.status)) {
    const look = async () => {
      const run = await this.run(scheduleId);
      return is(run) && run;
    };
    return until(`the end of ${scheduleId}`, look, ms);
  }

  async ledger(scheduleId) {
    return (await this.ok("GET", `/api/v1/runs/${scheduleId}/ledger`)).rows;
  }

  /** Every run of a job, newest first. */
  async runs(id, query = "") {
    const found = [];
    let cursor = "";
    do {
      const page = await this.ok("GET", `/api/v1/jobs/${id}/runs?limit=200${query}${cursor && `&cursor=${cursor}`}`);
      found.push(...page.items);
      cursor = page.nextCursor ?? "";
    } while (cursor);
    return found;
  }

  /** A new token of that role, and what may be done with it. */
  async newToken(role, jobs) {
    const made = await this.ok("POST", "/api/v1/tokens", { body: { name: `${role} of a test`, role, jobs } });
    return Object.assign(this.as(made.text), { tokenId: made.token.tokenId });
  }
}

export const runPath = (id, { wait } = {}) => `/api/v1/jobs/${id}/runs${wait ? `?wait=${wait}` : ""}`;

export function runOptions({ key = randomUUID(), params, overlap } = {}) {
  return { headers: { "idempotency-key": key }, body: { params, overlap } };
}

/** Makes the first administrator of a runtime. */
export async function setUp(runtime) {
  const api = new Api(runtime.url);
  const made = await api.ok("POST", "/api/v1/setup", { body: { code: setUpCode(), name: "tests" } });
  return api.as(made.text);
}

/** A runtime with an administrator, and a receiver for its jobs. */
export async function startWorld(options = {}) {
  const receiver = await startReceiver();
  const runtime = await startRuntime(options);
  const api = await setUp(runtime).catch((error) => {
    runtime.killGroup();
    throw new Error(`${error.message}\n${runtime.logs.slice(-20).join("\n")}`);
  });
  const stop = async () => {
    await runtime.stop();
    await receiver.down();
  };
  return { receiver, runtime, api, stop };
}
