// Many jobs due at one second: how long until the last has left, what it costs, and that each left once.
import { checkRepeats, quantile, received } from "../support/checker.mjs";
import { counters, cpuSeconds, each, perRun, secondAfter, settle, sleep, startWorld } from "./world.mjs";

/** Requests that create jobs at once. */
const WIDE = 16;
/** CPU time is read this long before the second, and settled counters that much earlier still. */
const BEFORE_MS = 200;
const READ_MS = 1_500;
const LIMIT_MS = 30_000;

/** Creates jobs due at one second. Their ids spread them over the shards. */
export async function createHerd(world, jobs, prefix = "herd") {
  // Creation takes about 3–10 ms a job; should it take longer, the second is moved.
  let at = secondAfter(5_000 + jobs * 12);
  const began = Date.now();
  await each(Array(jobs).keys(), WIDE, async (index) => {
    const document = { jobId: `${prefix}-${index}`, name: `${prefix} ${index}`, timeoutMs: 10_000 };
    const executor = world.sink.url(`/${prefix}`);
    await world.api.ok("POST", "/api/v1/jobs", { contract: false, body: { ...document, executor, at: new Date(at).toISOString() } });
  });
  const left = at - Date.now();
  console.log(`${jobs} jobs created in ${Date.now() - began} ms, due in ${left} ms`);
  if (left < 3_000) throw new Error("the jobs were created too slowly for the second they are due at");
  return at;
}

/** Waits for the second and for everything after it. The world's sink is stopped afterwards. */
export async function drain(world, jobs, at) {
  // D1 has the definitions, and nothing of before is counted.
  await settle(world.api, at - Date.now() - 2 * READ_MS);
  await sleep(at - READ_MS - Date.now());
  const before = await counters(world.api);
  await sleep(at - BEFORE_MS - Date.now());
  const base = world.sink.received;
  const cpuBefore = cpuSeconds(world.runtime);
  const complete = await world.sink.reached(base + jobs, at + LIMIT_MS);
  const cpuDrained = cpuSeconds(world.runtime) - cpuBefore;
  if (!complete) console.log(`only ${world.sink.received - base} of ${jobs} came within ${LIMIT_MS} ms`);
  // Something twice, or late results: what comes now is counted too.
  await sleep(2_000);
  const { now, polls, settled } = await settle(world.api);
  const cpuSettled = cpuSeconds(world.runtime) - cpuBefore;
  if (!settled) console.log(`D1 lacks ${now.unprojected} runs`);
  return { before, now, polls, cpuDrained, cpuSettled };
}

/** What the sink's file says about jobs due at `at`. */
export function lateness(starts, at, jobs) {
  const first = new Map();
  for (const start of starts) if (!first.has(start.run)) first.set(start.run, start.at - at);
  const late = [...first.values()];
  const { duplicates } = checkRepeats(starts);
  return {
    delivered: first.size,
    duplicates: duplicates.length,
    missed: jobs - new Set(starts.map(({ job }) => job)).size,
    first_ms: quantile(late, 0),
    drain_ms: quantile(late, 1),
    p50_ms: quantile(late, 0.5),
    p99_ms: quantile(late, 0.99),
  };
}

export async function herd({ jobs, disk = false, release = true }) {
  const world = await startWorld({ disk, release });
  try {
    const at = await createHerd(world, jobs);
    const spent = await drain(world, jobs, at);
    await world.sink.stop();
    const { starts } = received(world.sink.file);
    return {
      jobs,
      storage: world.storage,
      ...lateness(starts, at, jobs),
      ...perRun(spent.before, spent.now, spent.polls, jobs),
      cpu_s_per_1k: (spent.cpuDrained / jobs) * 1000,
      cpu_s_per_1k_settled: (spent.cpuSettled / jobs) * 1000,
      sink_cpu_s: world.sink.cpuSeconds,
      connections: world.sink.connections,
    };
  } finally {
    await world.stop();
  }
}
