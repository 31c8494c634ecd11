// Starts the receiver of benchmarks and chaos runs in a process of its own, so that neither disturbs the
// other's clock. What it received is read from its file with checker.mjs, after stop().
import { fork } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** `port` 0 takes a free one; the file lives until remove(). */
export async function startSink({ port = 0 } = {}) {
  const folder = mkdtempSync(join(tmpdir(), "cronwright-sink-"));
  const file = join(folder, "received.tsv");
  const options = JSON.stringify({ file, port });
  const child = fork(join(import.meta.dirname, "sink.server.mjs"), [options], { stdio: ["ignore", "inherit", "inherit", "ipc"] });
  const sink = {
    file,
    /** Requests so far; up to 20 ms old. */
    received: 0,
    /** When the last of them came, in ms. */
    last: 0,
    port: 0,
    /** Known after stop(). */
    connections: 0,
    cpuSeconds: 0,
    url: (path) => `http://127.0.0.1:${sink.port}${path}`,
    /** Resolves when `count` requests have come, or at `until` (ms). True when they have. */
    async reached(count, until) {
      while (sink.received < count && Date.now() < until) await new Promise((resolve) => setTimeout(resolve, 10));
      return sink.received >= count;
    },
    /** Ends the process; its file is complete then. */
    async stop() {
      if (child.exitCode !== null) return;
      const ended = new Promise((resolve) => child.once("exit", resolve));
      child.send("stop");
      await ended;
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
  await new Promise((resolve, reject) => {
    child.once("exit", (code) => reject(new Error(`the sink ended (${code})`)));
    child.on("message", (message) => {
      if (message.port) resolve(Object.assign(sink, message));
      else Object.assign(sink, message, message.last ? { last: message.last / 1000 } : {});
    });
  });
  return sink;
}
