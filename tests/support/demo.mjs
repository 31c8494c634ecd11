// The demonstration of `cargo xtask dev`: a job that fires every few seconds, its runs as they end, and
// a sign-in link. Ends when its stdin closes.
//
//   node demo.mjs --url http://localhost:8787 --state .wrangler/state --started EPOCH_MS
import { createHmac } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { dirname, join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { root } from "./config.mjs";

const { values } = parseArgs({
  options: {
    url: { type: "string", default: "http://localhost:8787" },
    state: { type: "string", default: ".wrangler/state" },
    started: { type: "string" },
  },
});
const started = Number(values.started ?? Date.now());
process.stdin.on("end", () => process.exit(0)).on("error", () => process.exit(0)).resume();

const EVERY = "5s";
const CODE_LIFE_MS = 15 * 60 * 1000;
const secret = readSecret();

/** A short-lived code that only the holder of the secret can make: `<expiry>.<hmac>`. */
function code(purpose) {
  const expiry = Date.now() + CODE_LIFE_MS;
  return `${expiry}.${createHmac("sha256", secret).update(`${purpose}.v1.${expiry}`).digest("hex")}`;
}

function readSecret() {
  const match = /^CRONWRIGHT_SECRET=["']?([^"'\r\n]+)/m.exec(readFileSync(join(root, ".dev.vars"), "utf8"));
  if (!match) throw new Error(".dev.vars has no CRONWRIGHT_SECRET: delete the file and run `cargo xtask dev` again");
  return match[1];
}

async function call(method, path, { token, body, headers } = {}) {
  const response = await fetch(values.url + path, {
    method,
    headers: {
      ...(token ? { authorization: `Bearer ${token}` } : {}),
      ...(body ? { "content-type": "application/json" } : {}),
      ...headers,
    },
    body: body ? JSON.stringify(body) : undefined,
    signal: AbortSignal.timeout(10_000),
  });
  const text = await response.text();
  let json;
  try {
    json = JSON.parse(text);
  } catch {
    json = undefined;
  }
  return { status: response.status, json, text };
}

/** The administrator's token of this state folder: kept, or made with a set-up code. */
async function token() {
  const path = join(resolve(root, values.state), "demo-token");
  if (existsSync(path)) {
    const kept = readFileSync(path, "utf8").trim();
    const { status } = await call("GET", "/api/v1/runs?limit=1", { token: kept });
    if (status === 200) return kept;
  }
  const made = await call("POST", "/api/v1/setup", { body: { code: code("setup-code"), name: "demo" } });
  if (made.status !== 201) {
    throw new Error(`the set-up was refused (${made.status} ${made.text.slice(0, 200)}): \`--state DIR\` starts afresh`);
  }
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `${made.json.text}\n`, { mode: 0o600 });
  return made.json.text;
}

/** What the demonstration job calls. The port is fixed if it can be, so that the job stays the same. */
function receiver(onCall) {
  const server = createServer((request, response) => {
    request.resume().on("end", () => {
      response.setHeader("content-type", "application/json");
      response.end(JSON.stringify({ hello: new Date().toISOString() }));
      onCall();
    });
  });
  return new Promise((resolve, reject) => {
    const wanted = Number(new URL(values.url).port) + 1000;
    server.once("error", () => server.once("error", reject).listen(0, "127.0.0.1"));
    server.on("listening", () => resolve(`http://127.0.0.1:${server.address().port}/hello`));
    server.listen(wanted, "127.0.0.1");
  });
}

let fired = false;
const executor = await receiver(() => {
  if (fired) return;
  fired = true;
  console.log(`first_fire_ms=${Date.now() - started}`);
});

const bearer = await token();
const job = { jobId: "hello", name: "hello", every: EVERY, executor };
const saved = await call("POST", "/api/v1/jobs", { token: bearer, body: job });
if (saved.status === 409) {
  // It is there from the last start; the receiver may have moved.
  const now = await call("PUT", "/api/v1/jobs/hello", { token: bearer, body: job, headers: { "if-match": "*" } });
  if (now.status >= 300) console.error(`the demonstration job was not updated: ${now.status} ${now.text}`);
} else if (saved.status >= 300) {
  throw new Error(`the demonstration job was refused: ${saved.status} ${saved.text}`);
}

console.log(`
  Cronwright runs on ${values.url}
  Sign in (15 minutes):  ${values.url}/sign-in?code=${code("sign-in-code")}
  The job \`hello\` fires every ${EVERY}; its runs appear here. ^C stops everything.
`);

const seen = new Set();
for (;;) {
  const { status, json } = await call("GET", "/api/v1/runs?limit=20", { token: bearer }).catch(() => ({ status: 0 }));
  if (status === 200) {
    const runs = json.runs ?? json.items ?? [];
    for (const run of runs.toReversed()) {
      const open = ["TRIGGERED", "DISPATCHED", "RUNNING"].includes(run.status);
      if (open || seen.has(run.scheduleId)) continue;
      seen.add(run.scheduleId);
      const at = new Date(run.endTime ?? run.endedAt ?? Date.now()).toLocaleTimeString();
      console.log(`  ${at}  ${run.jobId}  ${run.status}  ${run.summary ?? ""}  ${run.scheduleId}`);
    }
    if (seen.size > 1000) seen.clear();
  }
  await new Promise((resolve) => setTimeout(resolve, 1000));
}
