// A path that could be read in two ways reaches no handler: guards that read one and routers that read
// the other are how schedulers were taken over.
import assert from "node:assert/strict";
import { request as raw } from "node:http";
import { after, before, describe, test } from "node:test";
import { startWorld } from "../support/api.mjs";
import { openapi } from "../support/contract.mjs";

describe("paths in disguise", { concurrency: true }, () => {
  let world, api, receiver;
  before(async () => {
    world = await startWorld();
    ({ api, receiver } = world);
  });
  after(() => world.stop());

  /** A request whose path is sent as it is written. */
  function send(method, path, token) {
    const { hostname, port } = new URL(api.url);
    const headers = token ? { authorization: `Bearer ${token}` } : {};
    return new Promise((resolve, reject) => {
      const sent = raw({ hostname, port, method, path, headers }, (response) => {
        let text = "";
        response.setEncoding("utf8").on("data", (chunk) => (text += chunk));
        response.on("end", () => resolve({ status: response.statusCode, type: response.headers["content-type"], text }));
      });
      sent.on("error", reject).end();
    });
  }

  async function assertNoHandler(method, path, statuses) {
    for (const token of [undefined, api.token]) {
      const answer = await send(method, path, token);
      const what = `${method} ${path} ${token ? "with" : "without"} a token -> ${answer.status} ${answer.text.slice(0, 200)}`;
      assert.ok(statuses.includes(answer.status), what);
      assert.match(answer.type, /^application\/problem\+json/, what);
      assert.match(JSON.parse(answer.text).code, /^(bad_path|not_found|method_not_allowed|token_missing|job_not_found|unsupported_media_type)$/, what);
    }
  }

  const disguises = {
    "upper case": (path) => path.replace("/api", "/API"),
    "mixed case": (path) => path.replace("/api", "/aPi"),
    "upper-case version": (path) => path.replace("/v1", "/V1"),
    "another case of the resource": (path) => path.replace(/\/v1\/(\w)/, (found) => found.toUpperCase().replace("V1", "v1")),
    "two slashes first": (path) => `/${path}`,
    "two slashes within": (path) => path.replace("/v1/", "/v1//"),
    "a slash at the end": (path) => `${path}/`,
    "an escaped slash": (path) => path.replace("/v1/", "/v1%2f"),
    "an escaped slash, upper case": (path) => path.replace("/api/", "/api%2F"),
    "an escaped letter": (path) => path.replace("/api", "/%61pi"),
    "a twice escaped letter": (path) => path.replace("/api", "/%2561pi"),
    "a path parameter": (path) => `${path};x`,
    "a path parameter within": (path) => path.replace("/v1", "/v1;a=b"),
    "an escaped backslash": (path) => path.replace("/v1/", "/v1%5c"),
    "a null byte": (path) => `${path}%00`,
    "an escaped question mark": (path) => `${path}%3Fx`,
    "an escaped space": (path) => `${path}%20`,
    "a full-width letter": (path) => path.replace("/api", "/%ef%bd%81pi"),
  };

  test("every operation, in every disguise, with and without a token", { timeout: 60_000 }, async () => {
    for (const [template, methods] of Object.entries(openapi.paths)) {
      const path = template.replace(/\{(\w+)\}/g, "x");
      for (const [name, disguise] of Object.entries(disguises)) {
        const disguised = disguise(path);
        if (disguised === path) continue; // such as /health, which has no version
        await Promise.all(Object.keys(methods).map((method) => assertNoHandler(method.toUpperCase(), disguised, [400, 404, 405]))).catch((error) => {
          throw new Error(`${name}: ${error.message}`);
        });
      }
    }
  });

  test("a job is not changed through any of them", async () => {
    await api.create({ jobId: "keep", executor: receiver.url("/keep") });
    const variants = [
      "/open/..%2fapi/v1/jobs/keep", "/api/v1/jobs/x%2f..%2fkeep", "/api/v1/jobs/%6beep", "/api/v1/jobs%2Fkeep", "/open/user/init", "/setup", "/API//setup", "/setup;x", "/api/v1/setup/x", "/index.php", "/.git/config",
      "/cdn-cgi/../api/v1/jobs/keep%00", "/api/v1/jobs/keep/...", `/${"x".repeat(600)}`, `/api/v1/jobs/${"x".repeat(600)}`,
    ];
    for (const path of variants) for (const method of ["DELETE", "PUT", "GET"]) await assertNoHandler(method, path, [400, 404, 405]);
    assert.equal((await api.job("keep")).revision, 1);
  });

  test("what the runtime itself reads as a plain path is asked for its token like that path", async () => {
    await api.create({ jobId: "plain", executor: receiver.url("/plain") });
    for (const path of ["/api/v1/./jobs/plain", "/api/v1/x/../jobs/plain", "/api/v1/x/%2e%2e/jobs/plain", "/api\\v1\\jobs\\plain", "/x/..//api/v1/jobs/plain"]) {
      for (const method of ["DELETE", "PUT", "GET"]) {
        const { status } = await send(method, path);
        assert.ok([400, 401, 404].includes(status), `${method} ${path} -> ${status}`);
      }
    }
    assert.equal((await api.job("plain")).revision, 1);
  });

  test("ids differ by case, and nothing is cut off them", async () => {
    await api.create({ jobId: "Case", executor: receiver.url("/case") });
    for (const id of ["case", "CASE", "Case.json", "Case."]) {
      assert.equal((await send("DELETE", `/api/v1/jobs/${id}`, api.token)).status, 404, id);
      assert.equal((await send("DELETE", `/api/v1/jobs/${id}`)).status, 401, id);
    }
    assert.equal((await api.job("Case")).jobId, "Case");
  });
});
