// node sink.server.mjs OPTIONS_JSON: the receiver of benchmarks and chaos runs, started by sink.mjs.
//
// It speaks as little HTTP/1.1 as the runtime needs, because what it costs is taken from the two cores
// that are measured. Every request becomes two lines of its file, which alone say what was received:
//
//   start  n  µs  job|callback  scheduleId  fence  attempt  plannedAt  jobId  path  seq  endedAt  sha256 of the body
//   end    n  µs
//   gone   n  µs      the caller went away before the end; the handling goes on, as a callee's would
//
// Paths: /hold/MS/… answers after MS; /hold/FROM-TO/… after a time fixed by scheduleId and fence.
import { createHash } from "node:crypto";
import { openSync, writeSync } from "node:fs";
import { createServer } from "node:net";

const { file, port } = JSON.parse(process.argv[2]);
const log = openSync(file, "a");
const ANSWER = Buffer.from("HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: 2\r\n\r\nok");
const NOTHING = Buffer.alloc(0);
const HEAD_END = Buffer.from("\r\n\r\n");
const WANTED = /\r\n(content-length|transfer-encoding|x-job-id|x-schedule-id|x-fence|x-attempt|x-planned-at|webhook-id): *([^\r]*)/gi;

const micros = () => Math.round((performance.timeOrigin + performance.now()) * 1000);
let lines = [];
let received = 0;
let reported = 0;
let last = 0;
let connections = 0;

function flush() {
  if (lines.length > 0) writeSync(log, lines.join(""));
  lines = [];
  if (received === reported || !process.connected) return;
  reported = received;
  process.send({ received, last });
}
setInterval(flush, 20);

/** How long a request is held: by its path, and within a range by what it carries. */
function holdOf(path, salt) {
  const hold = /^\/hold\/(\d+)(?:-(\d+))?\//.exec(path);
  if (!hold) return 0;
  const [from, to] = [Number(hold[1]), Number(hold[2] ?? hold[1])];
  let hash = 2166136261;
  for (let i = 0; i < salt.length; i += 1) hash = Math.imul(hash ^ salt.charCodeAt(i), 16777619) >>> 0;
  return from + (hash % (to - from + 1));
}

/** A body at `at` of `buffer`: where it ends and its bytes, or nothing when it is not all there. */
function bodyOf(headers, buffer, at) {
  if (headers["transfer-encoding"] !== "chunked") {
    const end = at + Number(headers["content-length"] ?? 0);
    return buffer.length < end ? undefined : { end, bytes: buffer.subarray(at, end) };
  }
  const parts = [];
  for (;;) {
    const line = buffer.indexOf("\r\n", at);
    if (line < 0) return undefined;
    const size = Number.parseInt(buffer.toString("latin1", at, line), 16);
    const end = line + 2 + size + 2;
    if (buffer.length < end) return undefined;
    if (size === 0) return { end, bytes: Buffer.concat(parts) };
    parts.push(buffer.subarray(line + 2, end - 2));
    at = end;
  }
}

/** The first request in `buffer`, or nothing when it is not all there. */
function requestOf(buffer) {
  const headEnd = buffer.indexOf(HEAD_END);
  if (headEnd < 0) return undefined;
  const head = buffer.latin1Slice(0, headEnd);
  const headers = {};
  for (const [, name, value] of head.matchAll(WANTED)) headers[name.toLowerCase()] = value;
  const body = bodyOf(headers, buffer, headEnd + 4);
  const from = head.indexOf(" ") + 1;
  return body && { path: head.slice(from, head.indexOf(" ", from)), headers, body: body.bytes, end: body.end };
}

function handle(socket, { path, headers, body }) {
  const n = (received += 1);
  const at = (last = micros());
  const get = (name) => headers[name] ?? "-";
  const callback = "webhook-id" in headers;
  const told = (name) => (callback && new RegExp(`"${name}":"?([^",}]*)`).exec(body.toString("utf8"))?.[1]) || "-";
  const hash = callback ? createHash("sha256").update(body).digest("hex") : "-";
  const job = headers["x-job-id"] ?? told("jobId");
  const fields = [callback && !("x-fence" in headers) ? "callback" : "job", get("x-schedule-id"), get("x-fence"), get("x-attempt")];
  lines.push(`start\t${n}\t${at}\t${[...fields, get("x-planned-at"), job, path, told("seq"), told("endedAt"), hash].join("\t")}\n`);
  const done = () => {
    lines.push(`end\t${n}\t${micros()}\n`);
    socket.off("close", gone);
    if (socket.writable) socket.write(ANSWER);
  };
  const gone = () => lines.push(`gone\t${n}\t${micros()}\n`);
  const hold = holdOf(path, `${get("x-schedule-id")}/${get("x-fence")}`);
  if (hold === 0) return done();
  socket.on("close", gone);
  return setTimeout(done, hold);
}

const server = createServer({ noDelay: true }, (socket) => {
  connections += 1;
  let buffer = NOTHING;
  socket.setMaxListeners(0);
  socket.on("error", () => {});
  socket.on("data", (chunk) => {
    buffer = buffer.length > 0 ? Buffer.concat([buffer, chunk]) : chunk;
    for (let request = requestOf(buffer); request; request = requestOf(buffer)) {
      buffer = request.end === buffer.length ? NOTHING : buffer.subarray(request.end);
      handle(socket, request);
    }
  });
});
server.listen({ port, host: "127.0.0.1", backlog: 4096 }, () => process.send({ port: server.address().port }));

process.on("disconnect", () => process.exit(0));
process.on("message", (message) => {
  if (message !== "stop") return;
  flush();
  const { user, system } = process.cpuUsage();
  process.send({ connections, cpuSeconds: (user + system) / 1e6 }, () => process.exit(0));
});
