// The Worker on the real runtime, for tests, benchmarks and chaos runs. build/ must be there:
// `cargo xtask test`, `bench` and `chaos` see to it.
//
//   const runtime = await startRuntime({ stateDir });
//   await fetch(`${runtime.url}/health`);
//   await runtime.kill9();                                   // every process at once (not a power cut: the page cache survives)
//   const again = await startRuntime({ stateDir: runtime.stateDir, port: runtime.port });
//   await again.stop();
import { execFileSync, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { migrate, quiet, root, wrangler } from "./config.mjs";

/** The secret of test runs. */
export const testSecret = "5ec7e70fa91b3d846c2e8b5d9f1748a63be0d72c94f581a6e03b7d92c5f8146a";

const started = new Set();
process.on("exit", () => started.forEach((runtime) => runtime.killGroup()));

/**
 * Starts the Worker and resolves when it takes requests.
 *
 * engine         "miniflare" (default: fast, direct) or "wrangler" (the whole of `wrangler dev`)
 * stateDir       where state lives; default: a new folder that stop() removes
 * port           default: a free one
 * vars           variables beside those of wrangler.toml, e.g. { JOB_SHARDS: "4" }
 * secret         CRONWRIGHT_SECRET; null for none
 * allowLoopback  whether jobs may call this machine (ALLOW_LOOPBACK=1)
 * scheduler      whether the cron trigger fires each minute; default: only when tick() says so
 * objects        whether ask() may put questions to objects (miniflare only)
 * losing         whether answers of the executor may get lost: those about `lostAnswer` (miniflare only)
 * release        insist that build/ holds a release build
 */
export async function startRuntime({
  engine = "miniflare",
  stateDir,
  port = 0,
  vars = {},
  secret = testSecret,
  allowLoopback = true,
  scheduler = false,
  objects = false,
  losing = false,
  release = false,
} = {}) {
  const stamp = join(root, "build/.stamp");
  if (!existsSync(stamp)) throw new Error("build/ is missing: run `cargo xtask build` first");
  if (release && !readFileSync(stamp, "utf8").startsWith("release")) {
    throw new Error("build/ is not a release build: run `cargo xtask build --release` first");
  }
  const own = !stateDir;
  stateDir ??= mkdtempSync(join(tmpdir(), "cronwright-"));
  migrate(stateDir);
  const all = { ...vars };
  if (allowLoopback) all.ALLOW_LOOPBACK = "1";
  if (secret !== null) all.CRONWRIGHT_SECRET = secret;

  const began = performance.now();
  const runtime = new Runtime(stateDir, own);
  if (engine === "wrangler") await runtime.startWrangler(port, all, scheduler);
  else await runtime.startMiniflare(port, all, { tick: scheduler, objects, losing });
  runtime.startMs = Math.round(performance.now() - began);
  return runtime;
}

class Runtime {
  /** Lines the Worker and the runtime wrote. */
  logs = [];
  /** Where the Worker answers. */
  url = "";
  /** Where /cdn-cgi/local/scheduled answers. */
  entry = "";
  #child;
  #objects;
  #gone;
  #ownState;
  #timer;

  constructor(stateDir, ownState) {
    this.stateDir = stateDir;
    this.#ownState = ownState;
  }

  get pid() {
    return this.#child.pid;
  }

  get port() {
    return Number(new URL(this.url).port);
  }

  #spawn(args, env, isReady) {
    // Its own group, to be killed as one; its stdin stays open while this process lives.
    this.#child = spawn(process.execPath, args, {
      cwd: root,
      detached: true,
      env: { ...process.env, ...quiet, ...env },
      stdio: ["pipe", "pipe", "pipe"],
    });
    this.#child.stdin.on("error", () => {});
    started.add(this);
    return new Promise((resolve, reject) => {
      const late = setTimeout(() => this.#fail(reject, "was not ready within 60 s"), 60_000);
      this.#gone = new Promise((gone) => {
        this.#child.on("exit", (code, signal) => {
          clearTimeout(late);
          clearInterval(this.#timer);
          started.delete(this);
          this.#fail(reject, `ended (${signal ?? code})`);
          gone();
        });
      });
      const onLine = (line) => {
        this.logs.push(line);
        if (this.logs.length > 20_000) this.logs.splice(0, 10_000);
        const ready = isReady(line);
        if (!ready) return;
        clearTimeout(late);
        resolve(ready);
      };
      createInterface({ input: this.#child.stdout }).on("line", onLine);
      createInterface({ input: this.#child.stderr }).on("line", onLine);
    });
  }

  #fail(reject, why) {
    reject(new Error(`the runtime ${why}:\n${this.logs.slice(-30).join("\n")}`));
    this.killGroup();
  }

  async startMiniflare(port, vars, beside) {
    const options = JSON.stringify({ port, stateDir: this.stateDir, vars, ...beside });
    const ready = await this.#spawn([join(root, "tests/support/serve.mjs"), options], {}, (line) =>
      line.startsWith('{"url"') ? JSON.parse(line) : undefined,
    );
    this.url = ready.url;
    this.entry = ready.entry;
    this.#objects = ready.objects;
  }

  async startWrangler(port, vars, tick) {
    // Instead of .dev.vars, which is the developer's: a test says what it needs.
    const file = join(this.stateDir, "vars.env");
    writeFileSync(file, Object.entries(vars).map(([name, value]) => `${name}=${value}\n`).join(""), { mode: 0o600 });
    const args = [join(root, "tests/support/leash.mjs"), process.execPath, wrangler, "dev"];
    args.push("--port", String(port), "--ip", "127.0.0.1", "--persist-to", this.stateDir);
    args.push("--show-interactive-dev-session=false", "--env-file", file);
    const env = {
      XTASK_SKIP_BUILD: "1",
      // Not the machine's registry: another session's Worker of the same name must not answer for ours.
      WRANGLER_REGISTRY_PATH: join(this.stateDir, "registry"),
    };
    this.url = this.entry = await this.#spawn(args, env, (line) => /Ready on (http:\S+)/.exec(line)?.[1]);
    if (tick) this.#timer = setInterval(() => this.tick().catch(() => {}), 60_000);
  }

  /** Fires the cron trigger as of `at` (ms), and returns when it is done. */
  async tick(at = Date.now()) {
    const response = await fetch(`${this.entry}/cdn-cgi/local/scheduled?cron=*+*+*+*+*&time=${at}`);
    const text = await response.text();
    if (!response.ok) throw new Error(`the tick failed: ${response.status} ${text}`);
  }

  /** Asks an object what no public route asks it, such as for a planted fault. */
  async ask(binding, name, question) {
    const response = await fetch(`${this.#objects}/${binding}/${name}`, { method: "POST", body: JSON.stringify(question) });
    return { status: response.status, json: await response.json().catch(() => undefined) };
  }

  /** Processes of the runtime itself. */
  workerdPids() {
    const lines = execFileSync("ps", ["-A", "-o", "pid=,pgid=,stat=,comm="], { encoding: "utf8" }).trim().split("\n");
    return lines
      .map((line) => line.trim().split(/\s+/))
      // Z: dead, and only waiting for its parent to notice.
      .filter(([, group, state, name]) => Number(group) === this.pid && name.includes("workerd") && !state.startsWith("Z"))
      .map(([pid]) => Number(pid));
  }

  killGroup() {
    try {
      process.kill(-this.pid, "SIGKILL");
    } catch {
      // already gone
    }
  }

  /** SIGKILL to every process at once; the state stays. */
  async kill9() {
    this.killGroup();
    await this.#gone;
    // The port and the database files are free once the last process is gone.
    while (this.workerdPids().length > 0) await new Promise((resolve) => setTimeout(resolve, 5));
  }

  /** Ends it in order, and removes the state if startRuntime made it. */
  async stop() {
    this.#child.kill("SIGTERM");
    const late = setTimeout(() => this.killGroup(), 5_000);
    await this.#gone;
    clearTimeout(late);
    this.killGroup();
    if (this.#ownState) rmSync(this.stateDir, { recursive: true, force: true });
  }
}
