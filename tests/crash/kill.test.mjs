// What `cargo xtask chaos` does at length, in a minute: nothing is lost over a kill -9, and nothing is
// handled twice at once.
import assert from "node:assert/strict";
import { test } from "node:test";
import { broken, chaos, summary } from "../chaos/run.mjs";

test("kill -9 of the whole runtime loses nothing and doubles nothing", { timeout: 180_000 }, async (t) => {
  const say = (line) => t.diagnostic(line);
  const figures = summary(await chaos({ kills: 3, between: 3, seed: 20_261_129, release: false, say }));
  assert.deepEqual(broken(figures), [], JSON.stringify(figures));
  assert.ok(figures.started > figures.instants / 3, `too little was started to judge by: ${JSON.stringify(figures)}`);
  assert.ok(figures.callbacks > 0, "no callback came");
});
