/** What the survey page keeps of a panel: after the answer, nothing of an earlier value. */

import assert from "node:assert/strict";
import { test } from "node:test";

const kept = new Map();
globalThis.localStorage = {
  getItem: (key) => kept.get(key) ?? null,
  setItem: (key, value) => kept.set(key, value),
  removeItem: (key) => kept.delete(key),
};
const { answerTo, memory } = await import("../../src/bcdp/web/survey/memory.js");
const { keptForLater } = await import("../../src/bcdp/web/survey/panel.js");

const WORDS = { code: "en", panelOver: "over", panelPrepared: "prepared", panelAsks: (from, to) => `${from} to ${to}` };
const PERIODS = [1, 2].map((wave) => ({ wave, first: `2027-0${wave}-01`, last: `2027-0${wave}-28` }));

/** A device in the earlier wave, which prepares other symbols each time. */
function deviceOf() {
  let prepared = 0;
  return {
    ask: async (what, given) => {
      if (what === "release") return { plan: "x", epsilon: 1 };
      if (what === "prepare") return { word: 5, symbols: [(prepared += 1)] };
      const part = given.kept === null ? { word: 5 } : JSON.parse(given.kept);
      return { part, due: part.symbols ? "between" : "earlier", periods: PERIODS, menu: 0 };
    },
  };
}

test("answers are prepared once, also from another tab, and nothing of them is left after the answer", async () => {
  const device = deviceOf();
  await keptForLater({ id: "x", joined: null }, device, null, {}, WORDS);
  const first = memory.get("panel.x");
  assert.deepEqual(JSON.parse(first), { word: 5, symbols: [1] });
  await keptForLater({ id: "x", joined: { due: "earlier" } }, device, null, {}, WORDS);
  assert.equal(memory.get("panel.x"), first);
  answerTo({ id: "x" }).keep("{}", { plan: "x", epsilon: 1 });
  assert.deepEqual(JSON.parse(memory.get("panel.x")), { word: 5 });
});
