// The real object on the real runtime does what scenarios.json says. The simulator's host has to do the
// same: crates/sim/tests/conformance/.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { startWorld } from "../support/api.mjs";
import { Play } from "./play.mjs";

const { scenarios } = JSON.parse(readFileSync(new URL("scenarios.json", import.meta.url), "utf8"));
const numbered = scenarios.map((scenario, i) => ({ scenario, name: `s${i + 1}` }));

const replies = ({ jobs }) => Object.values(jobs).flatMap(({ callee, callback = [] }) => [...callee, ...callback]);
const kills = ({ scenario }) => scenario.acts.some((act) => act.do === "kill");
const loses = ({ scenario }) => replies(scenario).some((reply) => reply.loseAnswer);

async function plays(world, { scenario, name }) {
  const { expect: runs, deliveries } = scenario;
  assert.deepEqual(await new Play(world, scenario, name).observed(), { runs, deliveries }, scenario.why);
}

describe("the real object", { concurrency: true }, () => {
  for (const [where, losing, chosen] of [
    ["in one world", false, numbered.filter((one) => !kills(one) && !loses(one))],
    ["where answers of the executor get lost", true, numbered.filter((one) => !kills(one) && loses(one))],
  ]) {
    describe(where, { concurrency: true }, () => {
      let world;
      before(async () => {
        world = await startWorld({ losing });
      });
      after(() => world.stop());
      for (const one of chosen) test(one.scenario.claim, { timeout: 120_000 }, () => plays(world, one));
    });
  }

  describe("under kill -9", () => {
    for (const one of numbered.filter(kills)) {
      test(one.scenario.claim, { timeout: 180_000 }, async () => {
        const stateDir = mkdtempSync(join(tmpdir(), "cronwright-conformance-"));
        const world = await startWorld({ stateDir });
        try {
          await plays(world, one);
        } finally {
          await world.runtime.stop();
          await world.receiver.down();
          rmSync(stateDir, { recursive: true, force: true });
        }
      });
    }
  });
});
