// `cargo xtask chaos --kills N`: kill -9 of the whole runtime under 60 jobs, judged by the receiver's files.
import { parseArgs } from "node:util";
import { report } from "../bench/world.mjs";
import { broken, chaos, summary } from "./run.mjs";

const { values } = parseArgs({
  options: {
    kills: { type: "string", default: "30" },
    "seconds-between": { type: "string", default: "4" },
    seed: { type: "string", default: String(Date.now() % 100_000) },
    help: { type: "boolean", default: false },
  },
});

if (values.help) {
  console.log(`cargo xtask chaos [--kills 30] [--seconds-between 4] [--seed S]
Kills every process of the runtime at random moments and restarts it. Ends with 1 when a planned instant
was lost, one run was handled twice at once, or a run started twice that no kill had interrupted.`);
} else {
  const options = { kills: Number(values.kills), between: Number(values["seconds-between"]), seed: Number(values.seed) };
  const figures = summary(await chaos(options));
  report(figures);
  const promises = broken(figures);
  if (promises.length > 0) console.log(`broken: ${promises.join(", ")}`);
  process.exitCode = promises.length > 0 || figures.recovery_p99_ms > 5_000 ? 1 : 0;
}
