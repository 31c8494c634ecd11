// The jobs of a chaos run: every period, overlap and misfire policy, holds from nothing to most of the
// time limit, and callbacks for a third of them.

/** A small seeded generator (mulberry32): the same seed plans the same kills and the same jobs. */
export function randomOf(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
}

const OVERLAPS = ["skip", "queue", "replace", "allow"];
const MISFIRES = ["fire_once", "skip", "catch_up"];
const HOLDS = ["0", "0-200", "100-500", "0-800", "800"];

/** `count` jobs; `callbacks` of them report to a receiver. */
export function chaosJobs(count, callbacks, sink, random) {
  const pick = (list) => list[Math.floor(random() * list.length)];
  return Array.from({ length: count }, (_, index) => {
    const id = `chaos-${index}`;
    const periodMs = (1 + (index % 5)) * 1000;
    const overlap = OVERLAPS[index % OVERLAPS.length];
    const reports = index % Math.floor(count / callbacks) === 0;
    // Instants of `every` are multiples of the period since 1970, of cron lines those of the minute: the
    // checker computes them without us, so only periods that divide a minute appear as cron.
    const cron = index % 3 === 2 && 60_000 % periodMs === 0;
    const document = {
      jobId: id,
      name: id,
      ...(cron ? { cron: `*/${periodMs / 1000} * * * * *`, dialect: "unix-seconds" } : { every: `${periodMs / 1000}s` }),
      executor: sink.url(`/hold/${pick(HOLDS)}/${id}`),
      timeoutMs: 1000 + Math.floor(random() * 1000),
      overlap,
      misfire: pick(MISFIRES),
      ...(overlap === "queue" ? { queueLimit: 3 } : {}),
      ...(reports ? { callbackUrl: sink.url(`/callback/${index % 2}`) } : {}),
    };
    return { id, periodMs, overlap, reports, document, from: 0, until: 0 };
  });
}
