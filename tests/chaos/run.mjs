// Kills the whole runtime again and again under jobs that go on, and judges what came of it.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { checkCallbacks, checkInstants, checkPolicies, checkRepeats, quantile, received } from "../support/checker.mjs";
import { Api, ended, setUp } from "../support/api.mjs";
import { startRuntime } from "../support/runtime.mjs";
import { startSink } from "../support/sink.mjs";
import { each, sleep } from "../bench/world.mjs";
import { chaosJobs, randomOf } from "./jobs.mjs";

/** The longest that callbacks and lost attempts may take after the last kill. */
const SETTLE_MS = 60_000;
const SILENCE_MS = 10_000;

/**
 * kills    how often; `between` seconds apart on average, at moments that `seed` fixes
 * count    jobs, of which `callbacks` report
 * release  insist on a release build
 */
export async function chaos({ kills, between = 4, seed = 1, count = 60, callbacks = 20, release = true, say = console.log }) {
  const random = randomOf(seed);
  const stateDir = mkdtempSync(join(tmpdir(), "cronwright-chaos-"));
  const sink = await startSink();
  let runtime;
  let kept = true;
  try {
    runtime = await startRuntime({ stateDir, release });
    let api = await setUp(runtime);
    const jobs = chaosJobs(count, callbacks, sink, random);
    await api.ok("POST", "/api/v1/apps", { body: { appId: "default", name: "chaos" } });
    await each(jobs, 8, async (job) => {
      await api.ok("POST", "/api/v1/jobs", { contract: false, body: job.document });
      job.from = Date.now();
    });
    say(`${count} jobs, ${kills} kills, seed ${seed}`);
    const began = Date.now();
    const killed = [];
    const recoveries = [];
    for (let kill = 1; kill <= kills; kill += 1) {
      await sleep(200 + random() * between * 2000);
      // With jobs of a second, a silence this long means that nothing fires any more.
      if (Date.now() - Math.max(sink.last, began) > SILENCE_MS) throw new Error(`nothing was started for ${SILENCE_MS} ms before kill ${kill}`);
      killed.push(Date.now());
      await runtime.kill9();
      const restarted = Date.now();
      runtime = await startRuntime({ stateDir, release, port: runtime.port });
      await accepted(runtime);
      recoveries.push(Date.now() - restarted);
      say(`kill ${kill}: back after ${recoveries.at(-1)} ms, ${sink.received} requests so far`);
    }
    await sleep(2_000 + random() * 1_000);
    api = new Api(runtime.url, api.token);
    await each(jobs, 8, async (job) => {
      job.until = Date.now();
      await api.call("PATCH", `/api/v1/jobs/${job.id}`, { contract: false, body: { status: "PAUSED" } });
    });
    const runs = await settledRuns(api, jobs, say);
    await sink.stop();
    const result = { ...judge(received(sink.file), jobs, runs, killed, say), kills: killed.length, recoveries, seed };
    kept = broken(result).length > 0;
    return result;
  } finally {
    await runtime?.stop();
    await sink.stop();
    if (kept) {
      say(`kept: what was received in ${sink.file}, the state in ${stateDir}`);
      say((runtime?.logs ?? []).slice(-20).join("\n"));
    } else {
      sink.remove();
      rmSync(stateDir, { recursive: true, force: true });
    }
  }
}

/** Until a request is answered. */
async function accepted(runtime) {
  for (;;) {
    const response = await fetch(`${runtime.url}/health`, { signal: AbortSignal.timeout(5_000) }).catch(() => undefined);
    if (response?.ok) return;
    await sleep(10);
  }
}

/** Every run of every job, once all have ended and their callbacks too. */
async function settledRuns(api, jobs, say) {
  const runs = new Map();
  const limit = Date.now() + SETTLE_MS;
  let open = jobs;
  while (open.length > 0 && Date.now() < limit) {
    await sleep(1_000);
    await each(open, 8, async ({ id }) => runs.set(id, await api.runs(id).catch(() => runs.get(id) ?? [])));
    const isOpen = (run) => !ended.includes(run.status) || run.callback === "PENDING";
    open = open.filter(({ id }) => runs.get(id).some(isOpen));
  }
  for (const { id } of open) say(`${id} did not settle: ${JSON.stringify(runs.get(id)?.find((run) => !ended.includes(run.status) || run.callback === "PENDING"))}`);
  return Object.assign(runs, { unsettled: open.length });
}

const show = ({ job, run, at, first, again, second }) =>
  JSON.stringify({ job, run, planned: at, ...(first && { first: brief(first), then: brief(again ?? second) }) });
const brief = ({ run, fence, at, end, gone }) => ({ run, fence, at, end, gone });

function judge({ starts, callbacks }, jobs, runs, kills, say) {
  const { overlaps, duplicates, unexplained, unsaved } = checkRepeats(starts, kills);
  const policies = checkPolicies(starts, jobs, kills);
  const { instants, started, skipped, missed, reasons, invented } = checkInstants(starts, jobs, (id) => runs.get(id) ?? []);
  const told = checkCallbacks(starts, callbacks, jobs.filter(({ reports }) => reports));
  for (const [what, list] of Object.entries({ missed, overlaps, unexplained, policies, invented })) {
    for (const one of list.slice(0, 8)) say(`${what}: ${show(one)}`);
  }
  for (const run of told.missing.slice(0, 8)) say(`callback missing: ${run}`);
  for (const { first, second } of told.unordered.slice(0, 8)) say(`callback out of order: ${JSON.stringify([first, second])}`);
  for (const [reason, times] of reasons) say(`not started, ${reason}: ${times}`);
  return {
    instants,
    started,
    skipped,
    missed: missed.length + invented.length,
    overlaps: overlaps.length,
    duplicates: duplicates.length,
    duplicates_without_loss: unexplained.length,
    unsaved_ms_max: unsaved,
    policy_overlaps: policies.length,
    unsettled: runs.unsettled,
    callbacks: told.told,
    callbacks_missing: told.missing.length,
    callbacks_changed: told.changed.length,
    callbacks_out_of_order: told.unordered.length,
    fires: firesAfter(kills, starts),
  };
}

/** After each kill, until a job is served again; kills that the next one overtook are left out. */
function firesAfter(kills, starts) {
  const first = (kill) => starts.find(({ at }) => at > kill + 50)?.at ?? Infinity;
  return kills.filter((kill, index) => first(kill) < (kills[index + 1] ?? Infinity)).map((kill) => first(kill) - kill);
}

/** Which promises were not kept. */
export function broken(figures) {
  const never = ["missed", "overlaps", "duplicates_without_loss", "policy_overlaps", "unsettled", "callbacks_missing", "callbacks_changed", "callbacks_out_of_order"];
  return never.filter((key) => figures[key] > 0);
}

/** The figures of a chaos run, as they are printed. */
export function summary({ kills, recoveries, fires, seed, ...figures }) {
  const times = {
    recovery_p50_ms: quantile(recoveries, 0.5),
    recovery_p99_ms: quantile(recoveries, 0.99),
    first_start_after_kill_p99_ms: quantile(fires, 0.99),
  };
  return { kills, seed, ...figures, ...times };
}
