// `cargo xtask bench …` on the release build; each ends with lines of key=value.
import { parseArgs } from "node:util";
import { alone } from "./alone.mjs";
import { defined } from "./defined.mjs";
import { herd } from "./herd.mjs";
import { steady } from "./steady.mjs";
import { report } from "./world.mjs";

const HELP = `cargo xtask bench …
  herd --jobs N [--disk]          N jobs due at one second (default 1000)
  herd --alone [--seconds S]      one job alone, every 5 s and then every 35 s: rows and requests per run
  steady [--jobs N] [--seconds S] N jobs every 5 s for S seconds (default 500, 60): lateness
  defined [--jobs N] [--due D]    D jobs due beside N defined ones, against D beside D (default 100000, 100)
--disk keeps state on disk; the default is memory (/dev/shm).`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    jobs: { type: "string" },
    due: { type: "string", default: "100" },
    seconds: { type: "string", default: "60" },
    disk: { type: "boolean", default: false },
    alone: { type: "boolean", default: false },
    steady: { type: "boolean", default: false },
    help: { type: "boolean", default: false },
  },
});

function number(name, fallback) {
  const value = Number(values[name] ?? fallback);
  if (!Number.isInteger(value) || value < 1) throw new Error(`--${name} is a whole number from 1`);
  return value;
}

async function run(what) {
  const { disk } = values;
  if (what === "steady" || (what === "herd" && values.steady)) {
    return steady({ jobs: number("jobs", 500), seconds: number("seconds"), disk });
  }
  if (what === "herd" && values.alone) return alone({ seconds: number("seconds"), disk });
  if (what === "herd") return herd({ jobs: number("jobs", 1000), disk });
  if (what === "defined") return defined({ jobs: number("jobs", 100_000), due: number("due"), disk });
  return undefined;
}

const figures = values.help ? undefined : await run(positionals[0]);
if (figures) {
  report(figures);
  process.exitCode = figures.missed > 0 || figures.duplicates > 0 ? 1 : 0;
} else {
  console.log(HELP);
  process.exitCode = values.help ? 0 : 2;
}
