// One job alone: what a run costs when nothing shares its commits and alarms. A period of 5 s hides the
// heartbeat alarms behind the next fire; one of 35 s does not.
import { checkRepeats, received } from "../support/checker.mjs";
import { counters, perRun, settle, sleep, startWorld } from "./world.mjs";

async function measure(world, period, runs) {
  const jobId = `alone-${period}`;
  const periodMs = period * 1000;
  // Read in the middle between two fires, so that whole runs lie between two readings.
  const middle = () => sleep(periodMs - (Date.now() % periodMs) + periodMs * 0.6);
  await world.api.create({ jobId, every: `${period}s`, executor: world.sink.url(`/${jobId}`), timeoutMs: 3_000 });
  await middle();
  const base = world.sink.received;
  const before = await counters(world.api);
  console.log(`one job every ${period} s, ${runs} runs`);
  await sleep(runs * periodMs);
  const { now, polls } = await settle(world.api, 2_000);
  const came = world.sink.received - base;
  await world.api.setStatus(jobId, "PAUSED");
  await settle(world.api, 5_000);
  const figures = Object.entries(perRun(before, now, polls, came));
  return [[`runs_${period}s`, came], ...figures.map(([key, value]) => [key.replace("per_run", `per_run_${period}s`), value])];
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
    return { delivered, duplicates: duplicates.length, storage: world.storage, ...Object.fromEntries([...often, ...seldom]) };
  } finally {
    await world.stop();
  }
}
