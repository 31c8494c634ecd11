// What wrangler.toml says, as options for Miniflare; and a migrated, empty local database to copy.
// Both cost wrangler's start-up, so both are kept under .wrangler/, named after what they were made from.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { cpSync, existsSync, mkdirSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";

export const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
export const quiet = {
  CLOUDFLARE_CF_FETCH_ENABLED: "false",
  WRANGLER_SEND_METRICS: "false",
  WRANGLER_SEND_ERROR_REPORTS: "false",
  WRANGLER_HIDE_BANNER: "true",
};
/** With `losing`, the executor's word about a request that was answered with this text is lost. */
export const lostAnswer = "this answer is to be lost";
export const wrangler = join(root, "node_modules/wrangler/bin/wrangler.js");

/** Runs once per content: `make(path)` fills a path that nobody else sees until it is complete. */
function kept(kind, contents, make) {
  const hash = createHash("sha256");
  for (const content of contents) hash.update(content);
  const path = join(root, ".wrangler/kept", `${kind}-${hash.digest("hex").slice(0, 16)}`);
  if (existsSync(path)) return path;
  mkdirSync(dirname(path), { recursive: true });
  const draft = `${path}.${process.pid}`;
  make(draft);
  try {
    renameSync(draft, path);
  } catch (error) {
    if (!existsSync(path)) throw error; // another test was first
    rmSync(draft, { recursive: true, force: true });
  }
  return path;
}

/** wrangler.toml as Miniflare's worker options, without modules. Variables come from [vars] alone. */
export async function workerOptions() {
  const toml = join(root, "wrangler.toml");
  const versions = readFileSync(join(root, "package-lock.json"));
  const path = kept("config", [readFileSync(toml), versions], (draft) => {
    const script = `
      const { unstable_getMiniflareWorkerOptions: options, unstable_readConfig: read } = await import("wrangler");
      const { workerOptions } = options(process.argv[1]);
      const { name, vars } = read({ config: process.argv[1] });
      const { writeFileSync } = await import("node:fs");
      writeFileSync(process.argv[2], JSON.stringify({ ...workerOptions, name, bindings: vars }));`;
    execFileSync(process.execPath, ["--input-type=module", "-e", script, toml, draft], {
      cwd: root,
      env: { ...process.env, ...quiet },
      stdio: ["ignore", "ignore", "inherit"],
    });
  });
  return JSON.parse(readFileSync(path, "utf8"));
}

/** The Worker's modules, as they are: what wrangler's bundler would put into one file. */
export function modules() {
  const found = [["ESModule", join(root, "src/shim.js")]];
  const walk = (folder) => {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) walk(path);
      else if (entry.name.endsWith(".js")) found.push(["ESModule", path]);
      else if (entry.name.endsWith(".wasm")) found.push(["CompiledWasm", path]);
    }
  };
  walk(join(root, "build"));
  return found.map(([type, path]) => ({ type, path: relative(root, path), contents: readFileSync(path) }));
}

/** Gives `stateDir` a migrated database, if it has none. */
export function migrate(stateDir) {
  const database = join(stateDir, "v3/d1");
  if (existsSync(database)) return;
  const folder = join(root, "migrations");
  const files = readdirSync(folder).filter((name) => name.endsWith(".sql")).sort();
  const contents = files.flatMap((name) => [name, readFileSync(join(folder, name))]);
  const template = kept("database", contents, (draft) => {
    const args = [wrangler, "d1", "migrations", "apply", "DB", "--local", "--persist-to", draft];
    execFileSync(process.execPath, args, { cwd: root, env: { ...process.env, ...quiet, CI: "1" }, stdio: "pipe" });
  });
  mkdirSync(dirname(database), { recursive: true });
  cpSync(join(template, "v3/d1"), database, { recursive: true });
}
