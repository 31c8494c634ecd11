// A few jobs due beside very many that are not: they must be no later than among few, and waiting must
// cost nothing.
import { received } from "../support/checker.mjs";
import { createHerd, drain, lateness } from "./herd.mjs";
import { cpuSeconds, each, settle, sleep, startWorld } from "./world.mjs";

const WIDE = 32;
const IDLE_S = 20;

/** Jobs of which none is due for at least a month: a yearly cron, spread over its hours and minutes. */
async function define(world, count) {
  const began = Date.now();
  const month = new Date(began + 60 * 86_400_000).getUTCMonth() + 1;
  let made = 0;
  await each(Array(count).keys(), WIDE, async (index) => {
    const cron = `${index % 60} ${Math.floor(index / 60) % 24} ${1 + (index % 28)} ${month} *`;
    const body = { jobId: `defined-${index}`, name: `defined ${index}`, cron, dialect: "unix", executor: world.sink.url("/defined") };
    await world.api.ok("POST", "/api/v1/jobs", { contract: false, body });
    made += 1;
    if (made % 10_000 === 0) console.log(`${made} defined after ${Math.round((Date.now() - began) / 1000)} s`);
  });
  return Date.now() - began;
}

async function measure(world, count, due, key) {
  const createMs = await define(world, count);
  const { settled } = await settle(world.api, 300_000);
  if (!settled) console.log("D1 lacks some of the definitions");
  await sleep(3_000);
  const idle = cpuSeconds(world.runtime);
  await sleep(IDLE_S * 1000);
  const idleCpu = cpuSeconds(world.runtime) - idle;
  const at = await createHerd(world, due, key);
  await drain(world, due, at);
  await world.sink.stop();
  const starts = received(world.sink.file).starts.filter(({ job }) => job.startsWith(key));
  return { ...lateness(starts, at, due), idleCpu, createMs };
}

export async function defined({ jobs, due, disk }) {
  const results = [];
  for (const count of [due, jobs]) {
    console.log(`${due} due beside ${count} defined`);
    const world = await startWorld({ disk });
    try {
      results.push(await measure(world, count, due, "due"));
    } finally {
      await world.stop();
    }
  }
  const [few, many] = results;
  return {
    jobs,
    due,
    delivered: many.delivered,
    duplicates: few.duplicates + many.duplicates,
    missed: few.missed + many.missed,
    p50_ms: many.p50_ms,
    p99_ms: many.p99_ms,
    [`p50_ms_with_${due}`]: few.p50_ms,
    [`p99_ms_with_${due}`]: few.p99_ms,
    idle_cpu_s: many.idleCpu,
    [`idle_cpu_s_with_${due}`]: few.idleCpu,
    created_per_s: jobs / (many.createMs / 1000),
  };
}
