// Judges a run of the system by what the sink received, never by what our database says. The one thing
// taken from the API is the reason why a planned instant was not started.
import { readFileSync } from "node:fs";

/** After a kill, what was under way at most this long before may have been lost with its result. */
const UNCOMMITTED_MS = 1_000;
/** Between what happens here and its line in the file, on a busy machine. */
const TRANSIT_MS = 200;
/** Between two things that one of us does at once, as the receiver sees them. */
const JITTER_MS = 50;

/**
 * Everything the sink received, in the order of arrival; instants in ms. `end` is when the handling ended
 * (missing if it had not when the sink was stopped), `gone` when the caller went away before that.
 */
export function received(file) {
  const all = new Map();
  for (const line of readFileSync(file, "utf8").split("\n")) {
    const [what, n, micros, ...rest] = line.split("\t");
    if (what === "start") {
      const [kind, run, fence, attempt, planned, job, path, seq, ended, hash] = rest;
      const numbers = { fence: Number(fence), attempt: Number(attempt), planned: Number(planned), seq: Number(seq), ended: Date.parse(ended) };
      all.set(n, { kind, run, job, path, hash, ...numbers, at: micros / 1000, end: undefined, gone: undefined });
    } else if (what === "end" || what === "gone") {
      all.get(n)[what] = micros / 1000;
    }
  }
  const list = [...all.values()].sort((a, b) => a.at - b.at);
  return { starts: list.filter(({ kind }) => kind === "job"), callbacks: list.filter(({ kind }) => kind === "callback") };
}

export function groupBy(list, key) {
  const groups = new Map();
  for (const item of list) {
    const of = item[key];
    if (!groups.has(of)) groups.set(of, []);
    groups.get(of).push(item);
  }
  return groups;
}

/** Value at share `q` of a list of numbers; 0 of an empty one. */
export function quantile(values, q) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? 0;
}

const handled = (start) => start.end ?? Infinity;

/**
 * Handlings of one scheduleId that overlap in time, and repeats that no kill explains. `unsaved` is how
 * long before its kill a repeated handling had ended at the earliest, in ms: a result lost with the kill.
 */
export function checkRepeats(starts, kills = []) {
  const overlaps = [];
  const duplicates = [];
  const unexplained = [];
  let unsaved = 0;
  for (const [run, list] of groupBy(starts, "run")) {
    list.slice(1).forEach((start, index) => {
      const before = list[index];
      const found = { run, job: start.job, first: before, again: start };
      duplicates.push(found);
      if (start.at < handled(before)) overlaps.push(found);
      const lost = kills.find((kill) => kill >= before.at - TRANSIT_MS && kill <= handled(before) + UNCOMMITTED_MS && kill <= start.at);
      if (lost === undefined || start.fence <= before.fence) unexplained.push(found);
      else unsaved = Math.max(unsaved, lost - handled(before));
    });
  }
  return { overlaps, duplicates, unexplained, unsaved };
}

/**
 * Two runs of one job at once, where its policy forbids that. The handling is over for the policy when
 * the caller ended the connection on purpose; at a kill it did not.
 */
export function checkPolicies(starts, jobs, kills = []) {
  const found = [];
  const byJob = groupBy(starts, "job");
  const killed = (start) => kills.some((kill) => start.gone >= kill && start.gone < kill + TRANSIT_MS);
  for (const { id } of jobs.filter(({ overlap }) => overlap !== "allow")) {
    let busy = { until: 0, start: undefined };
    for (const start of byJob.get(id) ?? []) {
      if (start.at < busy.until - JITTER_MS && start.run !== busy.start.run) found.push({ job: id, first: busy.start, second: start });
      const until = start.gone !== undefined && !killed(start) ? start.gone : handled(start);
      if (until >= busy.until) busy = { until, start };
    }
  }
  return found;
}

/**
 * Every planned instant of every job was started, or has a reason.
 *
 * jobs  [{ id, periodMs, from, until }]: instants are the multiples of the period in from < t <= until
 * runs  of each job, as the API lists them: only those that never started are looked at
 */
export function checkInstants(starts, jobs, runsOf) {
  const missed = [];
  const reasons = new Map();
  const invented = [];
  let [instants, started, skipped] = [0, 0, 0];
  const byJob = groupBy(starts, "job");
  for (const { id, periodMs, from, until } of jobs) {
    const fired = new Set((byJob.get(id) ?? []).map(({ planned }) => planned));
    const why = reasonsOf(runsOf(id));
    for (let at = Math.floor(from / periodMs) * periodMs + periodMs; at <= until; at += periodMs) {
      instants += 1;
      const reason = fired.has(at) ? undefined : why(at);
      if (fired.has(at)) started += 1;
      else if (reason) skipped += 1;
      else missed.push({ job: id, at });
      if (reason) reasons.set(reason, (reasons.get(reason) ?? 0) + 1);
    }
    for (const at of fired) if (at % periodMs !== 0) invented.push({ job: id, at });
  }
  return { instants, started, skipped, missed, reasons, invented };
}

/** Why an instant was not started: its record is skipped, or cancelled or given up before it left. */
function reasonsOf(runs) {
  const single = new Map();
  const ranges = [];
  for (const run of runs) {
    const at = Date.parse(run.plannedAt);
    if (run.skipped) ranges.push({ from: Date.parse(run.skipped.first), to: Date.parse(run.skipped.last), why: "skipped (range)" });
    else if (["SKIPPED", "CANCELLED"].includes(run.status)) single.set(at, run.status.toLowerCase());
    else if (["FAILED", "TIMED_OUT"].includes(run.status)) single.set(at, `${run.status.toLowerCase()} before it arrived`);
  }
  return (at) => single.get(at) ?? ranges.find(({ from, to }) => from <= at && at <= to)?.why;
}

/**
 * Every run that started was told to its receiver, with the same bytes each time. Those of one job come in
 * order: runs beside each other end in another order than they began in, and either order will do.
 */
export function checkCallbacks(starts, callbacks, jobs) {
  const of = new Set(jobs.map(({ id }) => id));
  const told = groupBy(callbacks, "run");
  const runs = new Set(starts.filter(({ job }) => of.has(job)).map(({ run }) => run));
  const missing = [...runs].filter((run) => !told.has(run));
  const changed = [...told.values()].filter((list) => new Set(list.map(({ hash }) => hash)).size > 1);
  const firsts = [...told.values()].map(([first]) => first).sort((a, b) => a.at - b.at);
  const unordered = [];
  for (const [, list] of groupBy(firsts, "job")) {
    list.slice(1).forEach((callback, index) => {
      if (callback.ended < list[index].ended && callback.seq < list[index].seq) unordered.push({ first: list[index], second: callback });
    });
  }
  return { told: told.size, missing, changed, unordered };
}
