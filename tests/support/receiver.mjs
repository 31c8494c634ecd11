// A local HTTP server that keeps every request it gets, byte for byte, and answers as it was told.
//
//   const receiver = await startReceiver();
//   receiver.plan("/flaky", 500, { hang: true }, 200);   // in this order; the last one repeats
//   const first = await receiver.waitFor("/flaky", 5_000);
//   await receiver.down();                               // the port is closed
//   await receiver.up();                                 // the same port answers again
import { EventEmitter } from "node:events";
import { createServer } from "node:http";

/**
 * What a path answers: a status, or
 *
 *   { status, headers, body }  the answer; default 200 and "ok"
 *   { delayMs }                before the head
 *   { hang: true }             no head at all
 *   { dripMs }                 a byte of an endless body each so often
 *   { half: true }             a body that ends before its length
 *   { reset: true }            the connection is cut without a head
 *   { until: promise }         before the head; the promise's value replaces the answer, if it has one
 *
 * or a function of the request that gives one of these.
 */
class Receiver extends EventEmitter {
  /** Every request whose body has arrived, oldest first. */
  requests = [];
  #plans = new Map();
  #server;
  #port = 0;

  constructor() {
    super();
    this.setMaxListeners(0);
  }

  get port() {
    return this.#port;
  }

  get origin() {
    return `http://127.0.0.1:${this.#port}`;
  }

  url(path) {
    return this.origin + path;
  }

  /** From now on `path` answers with these, one after another; the last repeats. */
  plan(path, ...answers) {
    this.#plans.set(path, answers);
    return this.url(path);
  }

  /** Requests of a path, or those for which a function is true. */
  of(which) {
    return this.requests.filter(matcher(which));
  }

  /** The first request, past or to come, of a path or for which a function is true. */
  async waitFor(which, ms = 10_000) {
    return (await this.waitForCount(which, 1, ms))[0];
  }

  /** The first `count` such requests. */
  waitForCount(which, count, ms = 10_000) {
    const found = () => this.of(which).slice(0, count);
    return this.#until("request", () => (found().length === count ? found() : undefined), ms, () => {
      const seen = this.requests.map((request) => `${request.method} ${request.path}`).slice(-20);
      return `${found().length} of ${count} requests of ${which} came within ${ms} ms; the last of all: ${seen.join(", ") || "none"}`;
    });
  }

  /** When the other side broke the connection of `request` off. */
  waitForBreak(request, ms = 10_000) {
    return this.#until("broken", () => request.brokenAt, ms, () => `${request.path} was not broken off within ${ms} ms`);
  }

  #until(event, look, ms, why) {
    return new Promise((resolve, reject) => {
      const end = (settle, value) => {
        clearTimeout(late);
        this.off(event, check);
        settle(value);
      };
      const check = () => {
        const found = look();
        if (found !== undefined) end(resolve, found);
      };
      const late = setTimeout(() => end(reject, new Error(why())), ms);
      this.on(event, check);
      check();
    });
  }

  async up() {
    this.#server = createServer((request, response) => void this.#take(request, response));
    // Never the one to close an idle connection: the other side might be using it just then.
    this.#server.keepAliveTimeout = 600_000;
    this.#server.requestTimeout = 0;
    await new Promise((resolve, reject) => {
      this.#server.once("error", reject).listen(this.#port, "127.0.0.1", resolve);
    });
    this.#port = this.#server.address().port;
    return this;
  }

  async down() {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    this.#server.closeAllConnections();
    await closed;
  }

  async #take(request, response) {
    const record = {
      time: Date.now(),
      method: request.method,
      path: request.url,
      headers: request.headers,
      body: Buffer.alloc(0),
      brokenAt: undefined,
      get text() {
        return this.body.toString();
      },
      get json() {
        return JSON.parse(this.body.toString());
      },
    };
    response.on("close", () => {
      if (response.writableFinished) return;
      record.brokenAt = Date.now();
      this.emit("broken", record);
    });
    const chunks = [];
    try {
      for await (const chunk of request) chunks.push(chunk);
    } catch {
      return; // broken off while it was being sent
    }
    record.body = Buffer.concat(chunks);
    this.requests.push(record);
    const answer = this.#answer(record);
    this.emit("request", record);
    await respond(response, answer).catch(() => response.destroy());
  }

  #answer(record) {
    const path = record.path.split("?")[0];
    const answers = this.#plans.get(path) ?? [200];
    const next = answers.length > 1 ? answers.shift() : answers[0];
    return typeof next === "function" ? next(record) : next;
  }
}

const matcher = (which) => (typeof which === "function" ? which : (request) => request.path.split("?")[0] === which);
const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

async function respond(response, planned) {
  let answer = typeof planned === "number" ? { status: planned } : planned;
  if (answer.until) answer = { ...answer, ...(await answer.until) };
  if (answer.delayMs) await pause(answer.delayMs);
  if (answer.hang || response.destroyed) return;
  if (answer.reset) return void response.destroy();
  const body = answer.body ?? "ok";
  const bytes = Buffer.from(typeof body === "object" && !Buffer.isBuffer(body) ? JSON.stringify(body) : body);
  response.writeHead(answer.status ?? 200, answer.half ? { "content-length": bytes.length + 1000, ...answer.headers } : answer.headers);
  if (answer.dripMs) return drip(response, answer.dripMs);
  if (!answer.half) return void response.end(bytes);
  response.write(bytes);
  await pause(100);
  response.destroy();
}

async function drip(response, everyMs) {
  while (!response.destroyed) {
    response.write(".");
    await pause(everyMs);
  }
}

/** Starts a receiver on a free port. */
export function startReceiver() {
  return new Receiver().up();
}
