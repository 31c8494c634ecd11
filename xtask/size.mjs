// Prints what a deploy would upload and how much processor time its start takes (cargo xtask size).
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";

const scratch = mkdtempSync(join(tmpdir(), "cronwright-size-"));
const wrangler = (...args) =>
  execFileSync(process.execPath, ["node_modules/wrangler/bin/wrangler.js", ...args], { encoding: "utf8" });

try {
  const out = join(scratch, "out");
  wrangler("deploy", "--dry-run", "--outdir", out);
  const sizes = { wasm: [0, 0], script: [0, 0] };
  for (const name of readdirSync(out)) {
    const kind = name.endsWith(".wasm") ? "wasm" : name.endsWith(".js") ? "script" : undefined;
    if (!kind) continue;
    const bytes = readFileSync(join(out, name));
    sizes[kind][0] += bytes.length;
    sizes[kind][1] += gzipSync(bytes, { level: 9 }).length;
  }

  const bundle = join(scratch, "bundle.form");
  wrangler("deploy", "--dry-run", "--outfile", bundle);
  const profile = join(scratch, "startup.cpuprofile");
  wrangler("check", "startup", "--worker", bundle, "--outfile", profile);

  console.log(`wasm_bytes=${sizes.wasm[0]}`);
  console.log(`script_bytes=${sizes.script[0]}`);
  console.log(`wasm_gzip_bytes=${sizes.wasm[1]}`);
  console.log(`script_gzip_bytes=${sizes.script[1]}`);
  console.log(`startup_cpu_ms=${busyMilliseconds(JSON.parse(readFileSync(profile, "utf8")))}`);
} finally {
  rmSync(scratch, { recursive: true, force: true });
}

/** The time a CPU profile spent anywhere but idle. */
function busyMilliseconds({ nodes, samples, timeDeltas }) {
  const idle = new Set(nodes.filter((node) => node.callFrame.functionName === "(idle)").map((node) => node.id));
  let micros = 0;
  samples.forEach((id, i) => {
    if (!idle.has(id)) micros += Math.max(0, timeDeltas[i] ?? 0);
  });
  return Math.round(micros / 1000);
}
