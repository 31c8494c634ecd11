// One job alone: what a run costs when nothing shares its commits and alarms. A period of 5 s hides the
// heartbeat alarms behind the next fire; one of 35 s does not.
import { checkRepeats, received } from "../support/checker.mjs";
import { counters, settle, sleep, startWorld } from "./world.mjs";

/** What is in D1 some time after a run has ended; an object is put to sleep after 10 s without events. */
const SETTLED_MS = 3_000;

/** The counters soon after the next start. */
async function afterNext(world, periodMs) {
  const came = await world.sink.reached(world.sink.received + 1, Date.now() + 2 * periodMs);
  if (!came) throw new Error("the job does not fire");
  await sleep(SETTLED_MS);
  return counters(world.api);
}

async function measure(world, period, runs) {
  const jobId = `alone-${period}`;
  await world.api.create({ jobId, every: `${period}s`, executor: world.sink.url(`/${jobId}`), timeoutMs: 3_000 });
  console.log(`one job every ${period} s, ${runs} runs`);
  const sums = { rows: 0, d1: 0, requests: 0 };
  let last = await afterNext(world, period * 1000);
  for (let run = 0; run < runs; run += 1) {
    const now = await afterNext(world, period * 1000);
    // A shard that slept in between counts from nothing again. Only this job's has alarms and writes.
    const slept = now.alarms <= last.alarms;
    const grown = (name) => (now[name] ?? 0) - (slept ? 0 : (last[name] ?? 0));
    sums.rows += grown("rows_written") + grown("d1_rows_written");
    sums.d1 += grown("d1_rows_written");
    // Nobody but us asks the objects anything here: what else wakes one is an alarm.
    sums.requests += grown("alarms");
    last = now;
  }
  await world.api.setStatus(jobId, "PAUSED");
  await settle(world.api, 5_000);
  return { [`rows_per_run_${period}s`]: sums.rows / runs, [`rows_d1_per_run_${period}s`]: sums.d1 / runs, [`requests_per_run_${period}s`]: sums.requests / runs };
}

export async function alone({ seconds, disk }) {
  const world = await startWorld({ disk });
  try {
    const often = await measure(world, 5, Math.max(2, Math.floor(seconds / 5)));
    const seldom = await measure(world, 35, 3);
    await world.sink.stop();
    const { starts } = received(world.sink.file);
    const delivered = new Set(starts.map(({ run }) => run)).size;
    const { duplicates } = checkRepeats(starts);
    return { delivered, duplicates: duplicates.length, storage: world.storage, ...often, ...seldom };
  } finally {
    await world.stop();
  }
}
