// What every measurement stands on: the runtime from a release build, a sink, the API, and counts.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setUp } from "../support/api.mjs";
import { startRuntime } from "../support/runtime.mjs";
import { startSink } from "../support/sink.mjs";

const TICKS_PER_S = 100; // of /proc/<pid>/stat, on every Linux
const MEMORY = "/dev/shm";

export const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, Math.max(0, ms)));

/** Runs `work(item)` over all items, `wide` at a time. */
export async function each(items, wide, work) {
  const rest = items[Symbol.iterator]();
  const worker = async () => {
    for (const item of { [Symbol.iterator]: () => rest }) await work(item);
  };
  await Promise.all(Array.from({ length: wide }, worker));
}

/**
 * Starts everything. State lives in memory (tmpfs) where the machine has such a folder, unless `disk`.
 */
export async function startWorld({ disk = false, vars = {}, release = true } = {}) {
  const memory = !disk && statSync(MEMORY, { throwIfNoEntry: false })?.isDirectory();
  const stateDir = mkdtempSync(join(memory ? MEMORY : tmpdir(), "cronwright-bench-"));
  const world = { stateDir, storage: memory ? "tmpfs" : "disk", sink: undefined, runtime: undefined, api: undefined };
  world.stop = async () => {
    await world.runtime?.stop();
    await world.sink?.stop();
    world.sink?.remove();
    rmSync(stateDir, { recursive: true, force: true });
  };
  try {
    mkdirSync(stateDir, { recursive: true });
    world.sink = await startSink();
    world.runtime = await startRuntime({ stateDir, release, vars });
    world.api = await setUp(world.runtime);
  } catch (error) {
    await world.stop();
    throw error;
  }
  return world;
}

/** CPU seconds that the runtime's own processes have used. The local D1 runs inside them. */
export function cpuSeconds(runtime) {
  let ticks = 0;
  for (const pid of runtime.workerdPids()) {
    try {
      const fields = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1).split(" ");
      ticks += Number(fields[11]) + Number(fields[12]);
    } catch {
      // gone in between
    }
  }
  return ticks / TICKS_PER_S;
}

/** The system's own counters, added up over the shards; each reading costs a question per shard. */
export async function counters(api) {
  const { text } = await api.call("GET", "/api/v1/system/metrics", { contract: false });
  const found = {};
  for (const line of text.split("\n")) {
    const [, name, value] = /^cronwright_(\w+) (-?[\d.e+]+)$/.exec(line) ?? [];
    if (name) found[name] = Number(value);
  }
  if (found.shards_silent !== 0) throw new Error(`the metrics are not complete: ${text.slice(0, 500)}`);
  return found;
}

/** Waits until D1 has every run, and gives the counters and how often they were read meanwhile. */
export async function settle(api, limitMs = 60_000) {
  const end = Date.now() + limitMs;
  for (let polls = 1; ; polls += 1) {
    const now = await counters(api);
    const busy = (now.unprojected ?? 0) + (now.in_flight ?? 0) + (now.waiting ?? 0);
    if (busy === 0 || Date.now() > end) return { now, polls, settled: busy === 0 };
    await sleep(500);
  }
}

/** Rows and requests between two readings, per run. `polls`: readings after the first one. */
export function perRun(before, after, polls, runs) {
  const grown = (name) => (after[name] ?? 0) - (before[name] ?? 0);
  const rows = grown("rows_written") + grown("d1_rows_written");
  // Without these counters there is nothing to say: the line is left out.
  const known = "requests" in after && "alarms" in after;
  const figures = { rows_per_run: rows / runs, rows_d1_per_run: grown("d1_rows_written") / runs };
  if (known) figures.requests_per_run = (grown("requests") + grown("alarms") - polls * after.shards) / runs;
  if ("executor_calls" in after) figures.executor_calls_per_run = grown("executor_calls") / runs;
  return figures;
}

/** Prints `key=value` lines, numbers with as many digits as mean something. */
export function report(figures) {
  for (const [key, value] of Object.entries(figures)) {
    const text = typeof value !== "number" || Number.isInteger(value) ? value : value.toFixed(value < 10 ? 3 : 0);
    console.log(`${key}=${text}`);
  }
}

/** The next whole second at least `ms` away. */
export const secondAfter = (ms) => Math.ceil((Date.now() + ms) / 1000) * 1000;
