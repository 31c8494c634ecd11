// The same Worker under the whole of `wrangler dev`: its proxies, its bundler, its own state.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { Api, startWorld } from "../support/api.mjs";
import { startRuntime } from "../support/runtime.mjs";

test("under wrangler dev a job fires, reports, is ticked, and goes on after a kill", { timeout: 120_000 }, async (t) => {
  const stateDir = mkdtempSync(join(tmpdir(), "cronwright-wrangler-"));
  t.after(() => rmSync(stateDir, { recursive: true, force: true }));
  const world = await startWorld({ engine: "wrangler", stateDir });
  const { api, receiver } = world;
  let { runtime } = world;
  t.after(() => receiver.down());
  t.after(() => runtime.stop());

  const health = await api.ok("GET", "/health");
  assert.deepEqual([health.ok, typeof health.version, typeof health.tzdbVersion], [true, "string", "string"]);
  await api.create({ jobId: "every", every: "1s", timeoutMs: 2000, executor: receiver.url("/every"), callbackUrl: receiver.url("/cb") });
  const requests = await receiver.waitForCount("/every", 3);
  const planned = requests.map((request) => Number(request.headers["x-planned-at"]));
  planned.forEach((at, i) => assert.equal(at, planned[0] + i * 1000));
  await receiver.waitForCount("/cb", 2);
  await api.create({ jobId: "manual", executor: receiver.url("/manual") });
  assert.equal((await api.runNow("manual", { wait: "10s" })).status, "SUCCESS");
  await runtime.tick();

  await runtime.kill9();
  const before = receiver.of("/every").length;
  runtime = await startRuntime({ engine: "wrangler", stateDir, port: runtime.port });
  await receiver.waitForCount("/every", before + 2, 20_000);
  const again = new Api(runtime.url, api.token);
  const runs = (await again.runs("every")).reverse();
  const recorded = runs.reduce((sum, run) => sum + (run.skipped?.count ?? 1), 0);
  assert.equal((Date.parse(runs.at(-1).plannedAt) - planned[0]) / 1000 + 1, recorded);
});
