// The Worker's entry: real classes around what Rust exports (build/index.js, made by `cargo xtask build`).
//
// Real classes, not proxies: the runtime and wrangler's development wrapper subclass them. The Worker
// is built with unwinding, so a Rust panic arrives here as a rejected promise: one 500 for its own
// caller, and nothing else in the isolate notices. A trap (out of memory, stack overflow) ends the Wasm
// instance; the next call gets a fresh one, and each object is made again from its storage.
import { DurableObject, WorkerEntrypoint } from "cloudflare:workers";
import * as rust from "../build/index.js";

Error.stackTraceLimit = 20;

const state = rust.__worker_init_state();

/** Starts a new Wasm instance if the last one trapped, and returns the number of the current one. */
function instance() {
  // Any export does this on its way in. An object's own methods do it too late: after they have
  // checked their pointer, and before they use it.
  rust.__worker_init_state();
  return state.instanceId;
}

// What the current instance is working on. A trap would leave all of it waiting for ever.
const inFlight = new Set();
addEventListener("error", ({ error }) => {
  if (!(error instanceof WebAssembly.RuntimeError)) return;
  for (const fail of inFlight) fail(error);
  inFlight.clear();
});

function guarded(call) {
  return new Promise((resolve, reject) => {
    inFlight.add(reject);
    const done = (settle) => (value) => {
      inFlight.delete(reject);
      settle(value);
    };
    Promise.try(call).then(done(resolve), done(reject));
  });
}

/** Every answer leaves as a response: a thrown error would break the caller's stub. */
async function answer(where, call) {
  try {
    return await guarded(call);
  } catch (error) {
    // A panic's own hook has already logged where it happened.
    console.error(`${where} failed:`, error?.name === "PanicError" ? String(error) : error);
    return Response.json(
      { type: "about:blank", title: "Internal error", status: 500, code: "internal" },
      { status: 500, headers: { "content-type": "application/problem+json" } },
    );
  }
}

export default class extends WorkerEntrypoint {
  fetch(request) {
    return answer("fetch", () => (instance(), rust.fetch(request, this.env, this.ctx)));
  }

  async scheduled(event) {
    await guarded(() => (instance(), rust.scheduled(event, this.env, this.ctx)));
  }
}

/** Carries out HTTP runs. Reached through the EXECUTOR service binding only: it has no public route. */
export class Executor extends WorkerEntrypoint {
  fetch(request) {
    return answer("executor", () => (instance(), rust.executor_fetch(request, this.env, this.ctx)));
  }
}

/** A Durable Object class that holds a Rust object of `#[durable_object(alarm)]`. */
const holding = (Rust) =>
  class extends DurableObject {
    #object;
    #made;

    #current() {
      const now = instance();
      if (this.#made !== now) {
        this.#object = new Rust(this.ctx, this.env);
        this.#made = now;
      }
      return this.#object;
    }

    fetch(request) {
      return answer(`${Rust.name} ${this.ctx.id}`, () => this.#current().fetch(request));
    }

    // A throw is what makes the runtime run the alarm again, so it is passed on.
    async alarm() {
      await guarded(() => this.#current().alarm());
    }
  };

export class JobShard extends holding(rust.JobShard) {}
export class Endpoint extends holding(rust.Endpoint) {}
export class Clock extends holding(rust.Clock) {}
