// The document says what the Worker does. Every answer in every test here is held against it by
// api.mjs; this file looks at the document itself, and that each operation was seen to succeed.
import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { startWorld, until } from "../support/api.mjs";
import { openapi, operation } from "../support/contract.mjs";

describe("the OpenAPI document", () => {
  let world, api, receiver;
  before(async () => {
    world = await startWorld();
    ({ api, receiver } = world);
  });
  after(() => world.stop());

  const operations = Object.entries(openapi.paths).flatMap(([path, methods]) => Object.entries(methods).map(([method, one]) => ({ path, method, ...one })));

  test("it is the one that is served, to everybody", async () => {
    const served = await api.as(undefined).ok("GET", "/openapi.json");
    assert.deepEqual(served, openapi);
    assert.match(served.openapi, /^3\.1\./);
    const page = await fetch(`${api.url}/api`);
    assert.equal(page.status, 200);
    assert.match(page.headers.get("content-type"), /^text\/html/);
  });

  test("each operation is whole: a name, a summary, its parameters, its answers", () => {
    assert.equal(new Set(operations.map((one) => one.operationId)).size, operations.length);
    for (const one of operations) {
      assert.ok(one.summary && one.tags?.length > 0, one.operationId);
      const named = (one.path.match(/\{\w+\}/g) ?? []).map((name) => name.slice(1, -1));
      assert.deepEqual((one.parameters ?? []).filter((parameter) => parameter.in === "path").map((parameter) => parameter.name), named, one.operationId);
      assert.ok(Object.keys(one.responses).some((status) => status < 300), one.operationId);
      if (one.method === "get") assert.equal(one.requestBody, undefined, one.operationId);
    }
  });

  test("every reference leads somewhere", () => {
    const look = (part) => {
      if (Array.isArray(part)) return part.forEach(look);
      if (typeof part !== "object" || part === null) return;
      if (typeof part.$ref === "string") {
        const found = part.$ref.slice(2).split("/").reduce((at, key) => at?.[key], openapi);
        assert.ok(found, part.$ref);
      }
      Object.values(part).forEach(look);
    };
    look(openapi);
  });

  test("callbacks are described where jobs are created", () => {
    const { callbacks } = openapi.paths["/api/v1/jobs"].post;
    const [[, methods]] = Object.values(callbacks).flatMap(Object.entries);
    const names = methods.post.parameters.map((parameter) => parameter.name.toLowerCase());
    for (const name of ["x-app-id", "x-timestamp", "x-nonce", "x-signature", "webhook-id", "webhook-timestamp", "webhook-signature"]) assert.ok(names.includes(name), name);
    assert.ok(methods.post.requestBody.content["application/json"].schema);
  });

  test("each operation succeeds once, as documented", { timeout: 60_000 }, async () => {
    const done = new Set();
    const ok = async (method, path, body, headers) => {
      const json = await api.ok(method, path, { body, headers });
      done.add(operation(method, path).operationId);
      return json;
    };
    const { secret } = await ok("POST", "/api/v1/apps", { appId: "shop", name: "Shop" });
    assert.match(secret, /^whsec_/);
    await ok("POST", "/api/v1/apps/shop/rotate");
    await ok("GET", "/api/v1/apps");
    assert.equal((await ok("POST", "/api/v1/apps/shop/retire")).previousVersion, undefined);
    const callbackUrl = receiver.plan("/cb", 410, 200);
    const document = {
      jobId: "whole", name: "Whole 完整", description: "all fields", owner: "ops", labels: { team: "a" }, cron: "0 30 2 * * ?", dialect: "quartz", timeZone: "Europe/Berlin",
      startAt: "2026-01-01T00:00:00Z", endAt: "2099-01-01T00:00:00Z", jitterMs: 500, blackouts: [{ days: ["SAT"], from: "22:00", until: "06:00" }],
      executor: { url: receiver.url("/whole"), headers: { "X-A": "b" }, body: { a: "{{params}}" }, expectedStatus: [200, "201-204"] }, timeoutMs: 5000, deadlineMs: 60_000, warnAfterMs: 1000,
      retryTimes: 2, retryDelays: [100, "1s"], retryOn: ["FAILED"], misfire: { policy: "catch_up", catchUpWindow: "2h", maxCatchUp: 5 }, overlap: "queue", queueLimit: 3,
      callbackUrl, callbackApp: "shop", callbackPreset: "durable", routeStrategy: "consistency_hash", routeKey: "k",
    };
    await ok("POST", "/api/v1/jobs", document);
    await ok("GET", "/api/v1/jobs/whole");
    await ok("PUT", "/api/v1/jobs/whole", document);
    await ok("PATCH", "/api/v1/jobs/whole", { status: "PAUSED" });
    await ok("POST", "/api/v1/jobs/preview", { cron: "0 30 2 * * ?", timeZone: "Europe/Berlin", count: 10 });
    const { valid, errors } = await ok("POST", "/api/v1/jobs/validate", document);
    assert.deepEqual([valid, errors], [true, []]);
    await ok("POST", "/api/v1/jobs/validate", { name: "", cron: "61 * * * *", nmae: 1 });
    const run = await ok("POST", "/api/v1/jobs/whole/runs?wait=10s", { params: { n: 1 } });
    assert.equal(run.status, "SUCCESS");
    for (const path of ["/api/v1/jobs/whole/runs", "/api/v1/tasks/whole", `/api/v1/runs/${run.scheduleId}`, `/api/v1/runs/${run.scheduleId}/ledger`, `/api/v1/runs/${run.scheduleId}/output`]) await ok("GET", path);
    await ok("POST", `/api/v1/runs/${run.scheduleId}/replay`);
    await api.create({ jobId: "accepted", executor: { url: receiver.plan("/accepted", 202), mode: "accepted" } });
    const accepted = await ok("POST", "/api/v1/jobs/accepted/runs");
    await api.settled(accepted.scheduleId, 5_000, (one) => one.status === "RUNNING");
    await ok("POST", `/api/v1/runs/${accepted.scheduleId}/progress`, { percent: 5, message: "begun" });
    await ok("GET", `/api/v1/runs/${accepted.scheduleId}`);
    await ok("POST", `/api/v1/runs/${accepted.scheduleId}/complete`, { status: "FAILED", summary: "no", output: "text", errorCode: "no_stock" });
    const stopped = await ok("POST", "/api/v1/jobs/accepted/runs");
    await ok("POST", `/api/v1/runs/${stopped.scheduleId}/cancel`);

    await api.settled(run.scheduleId, 10_000, (one) => one.callback === "FAILED");
    const [{ endpointId }] = await until("the endpoint is listed", async () => {
      const { items } = await ok("GET", "/api/v1/endpoints");
      return items.length === 1 && items;
    });
    await ok("GET", `/api/v1/endpoints/${endpointId}`);
    await ok("GET", `/api/v1/endpoints/${endpointId}/deliveries?state=dead`);
    await ok("POST", `/api/v1/endpoints/${endpointId}/deliveries/${run.scheduleId}/replay`);
    await ok("POST", `/api/v1/endpoints/${endpointId}/replay-dead`);
    await ok("POST", `/api/v1/endpoints/${endpointId}/close-breaker`);

    const { token } = await ok("POST", "/api/v1/tokens", { name: "short", role: "viewer", jobs: ["whole"], expiresInDays: 1 });
    await ok("GET", "/api/v1/tokens");
    await ok("DELETE", `/api/v1/tokens/${token.tokenId}`);
    await until("the runs are listed", async () => (await ok("GET", "/api/v1/runs?limit=10")).items.length > 2);
    for (const path of ["/api/v1/jobs", "/api/v1/audit", "/api/v1/system/metrics", "/health", "/openapi.json"]) await ok("GET", path);
    await ok("POST", "/api/v1/system/rebuild");
    await ok("DELETE", "/api/v1/jobs/whole");
    done.add("setUp"); // by startWorld
    assert.deepEqual(operations.map((one) => one.operationId).filter((id) => !done.has(id)), []);
  });

  test("what does not exist is 404, another method 405 with Allow, HEAD is GET without a body", async () => {
    await api.refused("not_found", "GET", "/api/v1/nothing");
    const other = await api.call("DELETE", "/api/v1/jobs");
    assert.deepEqual([other.status, other.headers.get("allow").split(", ").sort()], [405, ["GET", "HEAD", "POST"]]);
    const head = await api.call("HEAD", "/api/v1/jobs");
    assert.deepEqual([head.status, head.text], [200, ""]);
  });

  test("every answer carries the headers of safety and the request's name", async () => {
    for (const path of ["/health", "/api/v1/jobs", "/api/v1/nothing", "/sign-in", "/api"]) {
      const { headers } = await api.call("GET", path);
      assert.match(headers.get("content-security-policy"), /default-src 'none'/, path);
      assert.equal(headers.get("x-content-type-options"), "nosniff", path);
      assert.equal(headers.get("referrer-policy"), "same-origin", path);
      assert.match(headers.get("x-request-id"), /^[0-9a-f]{24}$/, path);
      assert.equal(headers.get("access-control-allow-origin"), null, path);
      if (path.startsWith("/api/")) assert.equal(headers.get("cache-control"), "no-store", path);
    }
  });
});
