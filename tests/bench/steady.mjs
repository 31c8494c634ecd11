// Many jobs of one period over a while: how late each start is against its planned instant.
import { checkInstants, checkRepeats, quantile, received } from "../support/checker.mjs";
import { counters, cpuSeconds, each, perRun, settle, sleep, startWorld } from "./world.mjs";

const PERIOD_MS = 5_000;
const WIDE = 16;

export async function steady({ jobs, seconds, disk }) {
  const world = await startWorld({ disk });
  try {
    const ids = Array.from({ length: jobs }, (_, index) => `steady-${index}`);
    await each(ids, WIDE, (jobId) =>
      world.api.ok("POST", "/api/v1/jobs", { contract: false, body: { jobId, name: jobId, every: "5s", timeoutMs: 4_000, executor: world.sink.url("/steady") } }),
    );
    // The first instant after everything is in place begins the window; both ends lie between two fires.
    await sleep(PERIOD_MS - (Date.now() % PERIOD_MS) + PERIOD_MS / 2);
    const from = Date.now();
    const until = from + Math.ceil((seconds * 1000) / PERIOD_MS) * PERIOD_MS;
    const before = await counters(world.api);
    const cpuBefore = cpuSeconds(world.runtime);
    console.log(`${jobs} jobs every 5 s, for ${(until - from) / 1000} s`);
    await sleep(until - Date.now());
    const cpu = cpuSeconds(world.runtime) - cpuBefore;
    const { now, polls } = await settle(world.api, 1_500);
    await world.sink.stop();

    const all = received(world.sink.file).starts;
    const starts = all.filter(({ planned }) => planned > from && planned <= until);
    const late = starts.map(({ at, planned }) => at - planned);
    const windows = ids.map((id) => ({ id, periodMs: PERIOD_MS, from, until }));
    const { instants, missed } = checkInstants(all, windows, () => []);
    return {
      jobs,
      storage: world.storage,
      instants,
      delivered: new Set(starts.map(({ run }) => run)).size,
      duplicates: checkRepeats(all).duplicates.length,
      missed: missed.length,
      p50_ms: quantile(late, 0.5),
      p99_ms: quantile(late, 0.99),
      max_ms: quantile(late, 1),
      ...perRun(before, now, polls, starts.length),
      cpu_s_per_1k: (cpu / starts.length) * 1000,
    };
  } finally {
    await world.stop();
  }
}
