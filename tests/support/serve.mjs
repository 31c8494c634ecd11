// node serve.mjs OPTIONS_JSON: the Worker on the real runtime (workerd), driven through Miniflare.
//
// Faster to start than `wrangler dev` and without its proxies in the way. Started by runtime.mjs as the
// leader of a process group; when its stdin closes, it takes the whole group with it.
import { createServer } from "node:net";
import { Log, LogLevel, Miniflare, convertV4MiniflareOptions } from "miniflare";
import { lostAnswer, modules, root, workerOptions } from "./config.mjs";

const { port, stateDir, vars, tick, objects, losing } = JSON.parse(process.argv[2]);

function die() {
  try {
    process.kill(-process.pid, "SIGKILL");
  } catch {
    process.exit(1);
  }
}
process.stdin.on("end", die).on("close", die).on("error", die).resume();

const options = await workerOptions();
const direct = port || (await freePort());
// Asks objects what no public route asks them: POST /BINDING/NAME with the question.
const questions = objects && {
  name: "questions",
  modules: true,
  compatibilityDate: options.compatibilityDate,
  script: `export default { fetch(request, env) {
    const [, binding, name] = new URL(request.url).pathname.split("/");
    return env[binding].getByName(name).fetch("https://object/" + name, request);
  } }`,
  durableObjects: Object.fromEntries(
    Object.entries(options.durableObjects).map(([binding, { className }]) => [binding, { className, scriptName: options.name }]),
  ),
  unsafeDirectSockets: [{ host: "127.0.0.1", port: await freePort() }],
};
// Stands between objects and the executor, and loses its word about whoever answered with that text.
const loser = losing && {
  name: "loser",
  modules: true,
  compatibilityDate: options.compatibilityDate,
  script: `export default { async fetch(request, env) {
    const answer = await env.EXECUTOR.fetch(request);
    const text = await answer.text();
    if (text.includes(${JSON.stringify(lostAnswer)})) throw new Error("lost on the way");
    return new Response(text, answer);
  } }`,
  serviceBindings: { EXECUTOR: options.serviceBindings.EXECUTOR },
};
if (loser) options.serviceBindings.EXECUTOR = { name: loser.name };
const miniflare = new Miniflare(
  convertV4MiniflareOptions({
    host: "127.0.0.1",
    port: 0,
    cf: false,
    // For a CPU profile of the Worker: INSPECTOR_PORT=9339, then any devtools client.
    ...(process.env.INSPECTOR_PORT && { inspectorPort: Number(process.env.INSPECTOR_PORT) }),
    log: new Log(LogLevel.WARN),
    logRequests: false,
    resourcePersistencePath: `${stateDir}/v3`,
    // Answers /cdn-cgi/local/scheduled on the entry address.
    unsafeTriggerHandlers: true,
    handleStructuredLogs: ({ level, message }) => process.stderr.write(`${level}: ${message}\n`),
    workers: [
      {
        ...options,
        rootPath: root,
        modulesRoot: root,
        modules: modules(),
        bindings: { ...options.bindings, ...vars },
        // The Worker itself, without Miniflare's own entry Worker in front of it.
        unsafeDirectSockets: [{ host: "127.0.0.1", port: direct }],
      },
      ...[questions, loser].filter(Boolean),
    ],
  }),
);
const entry = await miniflare.ready;
const asked = questions && `http://127.0.0.1:${questions.unsafeDirectSockets[0].port}`;
console.log(JSON.stringify({ url: `http://127.0.0.1:${direct}`, entry: entry.origin, objects: asked }));

if (tick) {
  const next = () => 60_000 - (Date.now() % 60_000);
  const fire = () => {
    setTimeout(fire, next());
    const minute = Math.round(Date.now() / 60_000) * 60_000;
    fetch(`${entry.origin}/cdn-cgi/local/scheduled?cron=*+*+*+*+*&time=${minute}`).catch(() => {});
  };
  setTimeout(fire, next());
}

process.on("SIGTERM", async () => {
  await miniflare.dispose();
  process.exit(0);
});

/** A port that was free a moment ago. A fixed one survives a restart, so that receivers can call back. */
function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer().on("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}
