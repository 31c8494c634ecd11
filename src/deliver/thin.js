// All posts of a batch cross between Wasm and the runtime together, and so do their answers: at midnight
// thousands go through here, and a promise, a header or a string that crosses costs more than the
// request itself. What is sent, what may be called and what an answer means is decided in Rust (trip.rs).

/** Requests under way beside each other. */
export class Flock {
  #out = 0;
  #ended = [];
  #limits = new Map();
  #ring = () => {};

  /** Sends a JSON list of requests. Those of one list with one time limit share a timer; a later request
   * of the same id goes on under the limit of the first. */
  send(list) {
    const shared = new Map();
    for (const request of JSON.parse(list)) {
      const { id, limit } = request;
      if (!this.#limits.has(id)) {
        if (!shared.has(limit)) shared.set(limit, AbortSignal.timeout(limit));
        this.#limits.set(id, shared.get(limit));
      }
      this.#out += 1;
      this.#exchange(request, this.#limits.get(id));
    }
  }

  /** A JSON list of the answers since the last call: when all are there, or after `ms` those that are,
   * or else the next one. */
  ended(ms) {
    return new Promise((resolve) => {
      let patient = ms > 0;
      const timer = patient ? setTimeout(() => ((patient = false), this.#ring()), ms) : undefined;
      this.#ring = () => {
        if (this.#out > 0 && (patient || this.#ended.length === 0)) return;
        clearTimeout(timer);
        this.#ring = () => {};
        resolve(JSON.stringify(this.#ended.splice(0)));
      };
      this.#ring();
    });
  }

  /** Sends a request and reads at most `cap` bytes of the answer. Redirects come back as they are. */
  async #exchange({ id, url, cap, method, headers, body }, signal) {
    const answer = { id };
    try {
      const response = await fetch(url, { method, headers, body, redirect: "manual", signal });
      const names = response.headers;
      answer.status = response.status;
      answer.contentType = names.get("content-type") ?? undefined;
      answer.location = names.get("location") ?? undefined;
      answer.retryAfter = names.get("retry-after") ?? undefined;
      // The length of a compressed body says nothing about what it unpacks to.
      const short = names.get("content-encoding") === null && Number(names.get("content-length") ?? Infinity) <= cap;
      if (short) answer.body = (await response.text()) || undefined;
      else if (response.body) await readUpTo(response.body, cap, answer);
    } catch (error) {
      answer.fault = { TimeoutError: "timeout", AbortError: "aborted" }[error?.name] ?? "network";
      answer.detail = String(error?.message ?? error).slice(0, 300).toWellFormed();
    }
    answer.at = Date.now();
    this.#ended.push(answer);
    this.#out -= 1;
    this.#ring();
  }
}

async function readUpTo(stream, cap, answer) {
  const reader = stream.getReader();
  const decoder = new TextDecoder();
  let text = "";
  let room = cap;
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) break;
      text += decoder.decode(value.subarray(0, room), { stream: true });
      room -= value.length;
      if (room < 0) {
        answer.truncated = true;
        await reader.cancel();
        break;
      }
    }
  } finally {
    text += decoder.decode();
    answer.body = text || undefined;
  }
}
