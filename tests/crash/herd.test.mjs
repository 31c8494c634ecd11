// A thousand jobs due at one second: each leaves once, within the rows and requests of the budget. Counts
// only: how long it takes is for `cargo xtask bench herd` to say.
import assert from "node:assert/strict";
import { test } from "node:test";
import { herd } from "../bench/herd.mjs";

test("a herd of 1,000 leaves once each, within budget", { timeout: 180_000 }, async () => {
  const figures = await herd({ jobs: 1000, release: false });
  assert.equal(figures.delivered, 1000);
  assert.equal(figures.duplicates, 0);
  assert.equal(figures.missed, 0);
  assert.ok(figures.rows_per_run <= 3.5, `rows_per_run=${figures.rows_per_run}`);
  assert.ok(figures.requests_per_run <= 2, `requests_per_run=${figures.requests_per_run}`);
});
