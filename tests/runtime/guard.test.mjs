// What a job may call: nothing private, when it is saved, when it is called, and wherever it is redirected.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { Api, startWorld } from "../support/api.mjs";
import { startReceiver } from "../support/receiver.mjs";
import { startRuntime } from "../support/runtime.mjs";

/** Targets inside some network, for which a pool is the way out. */
const inside = [
  "http://10.0.0.1:8080/run", "http://172.16.0.1/", "http://172.31.255.255/", "http://192.168.1.1/", "http://169.254.169.254/latest/meta-data/",
  "http://100.100.100.200/", "http://[fd00::1]/", "http://[fe80::1]/", "http://metadata.google.internal/", "http://printer.local/",
  "http://db.internal/", "http://router.lan/", "http://10.1/", "http://0xa9fea9fe/", "http://2852039166/", "http://0251.0376.0251.0376/",
  "http://[::ffff:169.254.169.254]/", "http://[::ffff:10.0.0.1]/",
];
/** Targets that nobody may call. */
const never = [
  "http://0.0.0.0/", "http://[::]/", "http://192.0.2.1/", "http://198.18.0.1/", "http://203.0.113.1/", "http://224.0.0.1/", "http://240.0.0.1/",
  "http://255.255.255.255/", "http://[64:ff9b::a9fe:a9fe]/", "http://[2002:a9fe:a9fe::]/", "http://[2001:db8::1]/", "http://169.254.169.254.nip.io/",
  "http://user:pass@example.com/", "http://example.com:22/", "ftp://example.com/", "file:///etc/passwd", "http://8.8.8.8/", "javascript:alert(1)", "http://", "",
];
/** The machine itself, in many clothes. */
const loopback = ["http://127.0.0.1:9999/", "http://localhost/", "http://[::1]/", "http://127.1/", "http://2130706433/", "http://0x7f.1/", "http://017700000001/", "http://LOCALHOST./"];

/** A port that was free a moment ago. */
async function freePort() {
  const receiver = await startReceiver();
  await receiver.down();
  return receiver.port;
}

const problemOf = async (api, document) => {
  const problem = await api.refused("invalid_document", "POST", "/api/v1/jobs", { body: { name: "guarded", ...document } });
  return problem.errors[0];
};

describe("the guard, where loopback is let through", { concurrency: true }, () => {
  let world, api, receiver, other;
  before(async () => {
    const port = await freePort();
    world = await startWorld({ port, vars: { OWN_HOSTS: `127.0.0.1:${port}` } });
    other = await startReceiver();
    ({ api, receiver } = world);
  });
  after(async () => {
    await world.stop();
    await other.down();
  });

  test("a private target is refused when it is saved, with the hint to use a pool", async () => {
    for (const url of inside) {
      const asExecutor = await problemOf(api, { executor: url });
      assert.deepEqual([asExecutor.field, asExecutor.code], ["executor", "blocked_target"], url);
      assert.match(asExecutor.hint, /pool/, url);
      const asObject = await problemOf(api, { executor: { url } });
      assert.deepEqual([asObject.field, asObject.code], ["executor.url", "blocked_target"], url);
      const asCallback = await problemOf(api, { executor: receiver.url("/x"), callbackUrl: url });
      assert.deepEqual([asCallback.field, asCallback.code], ["callbackUrl", "blocked_target"], url);
    }
  });

  test("what is no public host, no plain URL or another protocol's port is refused", async () => {
    for (const url of never) {
      const error = await problemOf(api, { executor: url });
      assert.deepEqual([error.field, error.code], ["executor", "blocked_target"], url);
      assert.ok(error.hint.length > 10, url);
    }
  });

  test("loopback in disguise is refused even here", async () => {
    for (const url of ["http://[::ffff:127.0.0.1]/", "http://127.0.0.1.nip.io/", "http://localtest.me/", "http://sub.localhost/"]) {
      assert.equal((await problemOf(api, { executor: url })).code, "blocked_target", url);
    }
  });

  test("a job cannot call the deployment that runs it", async () => {
    for (const url of [api.url, `${api.url}/api/v1/jobs`]) {
      assert.equal((await problemOf(api, { executor: url })).code, "blocked_target", url);
    }
  });

  test("the job document of the design is accepted but for its private executor, with the hint to use a pool", async () => {
    const document = {
      jobId: "job_20240601_001", name: "order-sync-to-erp", cron: "0 0/5 * * * ?", routeStrategy: "consistency_hash", routeKey: "customer_id=9527",
      executor: "http://10.0.0.1:8080/run", timeoutMs: 30000, retryTimes: 3, callbackUrl: "https://openapi.example.com/v1/callback/order", status: "ENABLED",
    };
    const problem = await api.refused("invalid_document", "POST", "/api/v1/jobs", { body: document });
    assert.deepEqual(problem.errors.map((error) => [error.field, error.code]), [["executor", "blocked_target"]]);
    assert.match(problem.errors[0].hint, /pool/);
    const job = await api.create({ ...document, executor: "https://erp.example.com/run" });
    for (const [name, value] of Object.entries(document)) if (name !== "executor") assert.deepEqual(job[name], value, name);
    assert.equal(job.dialect, "quartz");
    await api.ok("DELETE", "/api/v1/jobs/job_20240601_001");
  });

  test("a redirect to a private address is refused and not retried", async () => {
    for (const [i, location] of ["http://169.254.169.254/latest/", "http://10.0.0.1/", "http://[fd00::1]/", "//192.168.0.1/x", "http://[::ffff:127.0.0.1]/", `${api.url}/health`].entries()) {
      const jobId = `private-${i}`;
      receiver.plan(`/${jobId}`, { status: 302, headers: { location } });
      await api.create({ jobId, executor: receiver.url(`/${jobId}`), retryTimes: 3, retryDelays: [100] });
      const run = await api.runNow(jobId, { wait: "20s" });
      assert.deepEqual([run.status, run.errorCode, run.attempt], ["FAILED", "blocked_target", 1], location);
      assert.equal(receiver.of(`/${jobId}`).length, 1);
    }
  });

  test("a redirect to another origin goes without credentials, tokens and signatures", async () => {
    receiver.plan("/cross", { status: 307, headers: { location: other.url("/landed") } });
    const executor = { url: receiver.url("/cross"), method: "POST", headers: { Authorization: "Bearer secret", Cookie: "a=b", "X-Api-Key": "secret" }, body: "payload", mode: "accepted" };
    await api.create({ jobId: "cross", executor, callbackUrl: receiver.url("/cb") });
    const run = await api.runNow("cross", { wait: "10s" });
    assert.equal(run.status, "SUCCESS");
    const [first, landed] = [receiver.of("/cross")[0], other.of("/landed")[0]];
    for (const name of ["authorization", "cookie", "x-api-key", "x-run-token", "x-signature", "webhook-signature", "x-nonce"]) {
      assert.ok(first.headers[name], `${name} was sent to the job's own callee`);
      assert.equal(landed.headers[name], undefined, `${name} went to another origin`);
    }
    assert.deepEqual([landed.method, landed.text], ["POST", "payload"]);
  });

  test("a redirect within the origin keeps them, and 303 asks with GET", async () => {
    receiver.plan("/same", { status: 303, headers: { location: "/same-landed" } });
    await api.create({ jobId: "same", executor: { url: receiver.url("/same"), headers: { Authorization: "Bearer secret" }, body: "payload" } });
    assert.equal((await api.runNow("same", { wait: "10s" })).status, "SUCCESS");
    const [landed] = receiver.of("/same-landed");
    assert.deepEqual([landed.method, landed.text, landed.headers.authorization], ["GET", "", "Bearer secret"]);
  });

  test("three redirects are followed, a fourth is not", async () => {
    for (const n of [4, 3, 2, 1]) receiver.plan(`/hop-${n}`, { status: 302, headers: { location: `/hop-${n - 1}` } });
    receiver.plan("/hop-0", 200);
    receiver.plan("/circle", { status: 302, headers: { location: "/circle" } });
    const outcomes = {};
    for (const path of ["hop-3", "hop-4", "circle"]) {
      await api.create({ jobId: path, executor: receiver.url(`/${path}`) });
      const run = await api.runNow(path, { wait: "10s" });
      outcomes[path] = [run.status, run.errorCode];
    }
    assert.deepEqual(outcomes, { "hop-3": ["SUCCESS", undefined], "hop-4": ["FAILED", "redirect"], circle: ["FAILED", "redirect"] });
    assert.equal(receiver.of("/circle").length, 4);
  });
});

test("a deployment that does not allow loopback refuses it when a job is saved, and when one saved before is called", async (t) => {
  const stateDir = mkdtempSync(join(tmpdir(), "cronwright-guard-"));
  t.after(() => rmSync(stateDir, { recursive: true, force: true }));
  const { api, receiver, runtime } = await startWorld({ stateDir });
  t.after(() => receiver.down());
  await api.create({ jobId: "before", executor: receiver.url("/before"), callbackUrl: receiver.url("/cb-before"), retryTimes: 3, retryDelays: [100] });
  assert.equal((await api.runNow("before", { wait: "10s" })).status, "SUCCESS");
  await receiver.waitFor("/cb-before");
  await runtime.stop();
  const seen = receiver.requests.length;

  const strict = await startRuntime({ stateDir, allowLoopback: false });
  t.after(() => strict.stop());
  const again = new Api(strict.url, api.token);
  for (const url of loopback) {
    const error = await problemOf(again, { executor: url });
    assert.deepEqual([error.field, error.code], ["executor", "blocked_target"], url);
    // By whichever name this deployment was called, that name is its own.
    assert.match(error.hint, /pool|Cronwright itself/, url);
  }
  const run = await again.runNow("before", { wait: "10s" });
  assert.deepEqual([run.status, run.errorCode, run.attempt], ["FAILED", "blocked_target", 1]);
  const end = await again.settled(run.scheduleId, 10_000, (one) => one.callback === "FAILED");
  assert.match((await again.ledger(end.scheduleId)).at(-1).why, /callback given up: blocked_target/);
  assert.equal(receiver.requests.length, seen, "nothing was called");
});
