// The judge of chaos runs, judged: each kind of breach is planted once and has to be found.
import assert from "node:assert/strict";
import { test } from "node:test";
import { checkCallbacks, checkInstants, checkPolicies, checkRepeats } from "../support/checker.mjs";

const start = (fields) => ({ run: "r1", job: "a", fence: 1, planned: 1_000, at: 1_000, end: 1_100, ...fields });
const counts = (starts, kills) => {
  const { overlaps, duplicates, unexplained } = checkRepeats(starts, kills);
  return [overlaps.length, duplicates.length, unexplained.length];
};

test("a repeat is a breach unless a kill explains it and its fence is higher", () => {
  const again = start({ fence: 2, at: 3_000, end: 3_100 });
  assert.deepEqual(counts([start(), start({ run: "r2", at: 2_000 })], []), [0, 0, 0]);
  assert.deepEqual(counts([start(), again], []), [0, 1, 1]);
  assert.deepEqual(counts([start(), again], [1_050]), [0, 1, 0]);
  assert.deepEqual(counts([start(), again], [1_120]), [0, 1, 0], "ended, and the result was not saved yet");
  assert.deepEqual(counts([start(), again], [2_900]), [0, 1, 1], "the kill came long after the end");
  assert.deepEqual(counts([start(), again], [3_050]), [0, 1, 1], "the kill came after the repeat");
  assert.deepEqual(counts([start(), { ...again, fence: 1 }], [1_050]), [0, 1, 1]);
});

test("two handlings of one run at once are found, unfinished ones too", () => {
  assert.deepEqual(counts([start(), start({ fence: 2, at: 1_090 })], [1_050]), [1, 1, 0]);
  assert.deepEqual(counts([start({ end: undefined }), start({ fence: 2, at: 9_000 })], [1_050]), [1, 1, 0]);
});

test("two runs of one job at once are found where the policy forbids them", () => {
  const both = [start({ end: 2_000 }), start({ run: "r2", at: 1_500 })];
  const found = (overlap, starts, kills = []) => checkPolicies(starts, [{ id: "a", overlap }], kills).length;
  assert.equal(found("skip", both), 1);
  assert.equal(found("allow", both), 0);
  const stopped = [{ ...both[0], gone: 1_480 }, both[1]];
  assert.equal(found("replace", stopped), 0, "the first was broken off on purpose");
  assert.equal(found("replace", stopped, [1_470]), 1, "a kill breaks nothing off at the callee");
  assert.equal(found("replace", stopped, [1_490]), 0, "the kill came after it was broken off");
});

test("an instant without start or reason is missed, and one that was never planned is found", () => {
  const job = { id: "a", periodMs: 1_000, from: 500, until: 5_000 };
  const skip = { status: "SKIPPED", plannedAt: new Date(2_000).toISOString() };
  const range = { status: "SKIPPED", plannedAt: new Date(4_000).toISOString(), skipped: { first: new Date(3_000).toISOString(), last: new Date(4_000).toISOString() } };
  const judge = (starts, runs) => {
    const { instants, started, skipped, missed, invented } = checkInstants(starts, [job], () => runs);
    return [instants, started, skipped, missed.map(({ at }) => at), invented.length];
  };
  const ends = [start(), start({ run: "r5", planned: 5_000 })];
  assert.deepEqual(judge(ends, [skip, range]), [5, 2, 3, [], 0]);
  assert.deepEqual(judge(ends, [skip]), [5, 2, 1, [3_000, 4_000], 0]);
  assert.deepEqual(judge(ends, [skip, range, { status: "SUCCESS", plannedAt: skip.plannedAt }]), [5, 2, 3, [], 0]);
  assert.deepEqual(judge(ends, [{ ...skip, status: "SUCCESS" }, range])[3], [2_000], "success is no reason not to start");
  assert.equal(judge([...ends, start({ run: "r6", planned: 1_500 })], [skip, range])[4], 1);
});

test("a callback that is missing, changed or out of order is found", () => {
  const callback = (fields) => ({ kind: "callback", run: "r1", job: "a", hash: "x", seq: 1, ended: 1_100, at: 1_200, ...fields });
  const judge = (callbacks) => {
    const { missing, changed, unordered } = checkCallbacks([start(), start({ run: "r2" })], callbacks, [{ id: "a" }]);
    return [missing.length, changed.length, unordered.length];
  };
  const second = callback({ run: "r2", seq: 2, ended: 2_100, at: 2_200 });
  assert.deepEqual(judge([callback(), second, callback({ at: 2_300 })]), [0, 0, 0], "a repeat may be late");
  assert.deepEqual(judge([callback()]), [1, 0, 0]);
  assert.deepEqual(judge([callback(), second, callback({ hash: "y" })]), [0, 1, 0]);
  assert.deepEqual(judge([callback({ at: 2_300 }), second]), [0, 0, 1]);
  assert.deepEqual(judge([callback({ at: 2_300, ended: 2_150 }), second]), [0, 0, 0], "it ended later, though it began earlier");
});
