// Days on the dashboard: only of enough people, and never a small difference between two of them.
import assert from "node:assert/strict";
import test from "node:test";

import { noted, remembered } from "../../src/bcdp/web/history.js";

test("a day is noted when enough people came since the last one", () => {
  let notes = noted([], "2026-03-01", 999);
  assert.deepEqual(notes, []);
  notes = noted(notes, "2026-03-01", 1000);
  notes = noted(notes, "2026-03-01", 1700); // later on the same day
  assert.deepEqual(notes, [["2026-03-01", 1700]]);
  notes = noted(notes, "2026-03-02", 2699); // 999 more
  assert.deepEqual(notes, [["2026-03-01", 1700]]);
  notes = noted(notes, "2026-03-03", 2700);
  assert.deepEqual(notes, [["2026-03-01", 1700], ["2026-03-03", 2700]]); // prettier-ignore
});

test("whatever comes, two days are never closer than a thousand people", () => {
  let [notes, people, state] = [[], 0, 7];
  for (let step = 0; step < 5000; step += 1) {
    state = (state * 1103515245 + 12345) % 2 ** 31;
    people += state % 97;
    notes = noted(notes, `day ${String(Math.floor(step / 10)).padStart(4, "0")}`, people);
    const counts = [0, ...notes.map(([, count]) => count)];
    assert.ok(counts.slice(1).every((count, place) => count - counts[place] >= 1000));
  }
  assert.ok(notes.length > 100);
});

test("a store that was emptied begins anew, and one that does not work is no hindrance", () => {
  assert.deepEqual(noted([["2026-03-01", 5000]], "2026-03-02", 1200), [["2026-03-02", 1200]]);
  const broken = { getItem: () => "{", setItem: () => assert.fail() };
  assert.deepEqual(remembered(broken, "a", 1500, new Date(2026, 2, 5)), [["2026-03-05", 1500]]);
  const full = {
    getItem: () => null,
    setItem() {
      throw new Error("full");
    },
  };
  assert.deepEqual(remembered(full, "a", 1500, new Date(2026, 2, 5)), [["2026-03-05", 1500]]);
});

test("notes are kept by plan", () => {
  const kept = new Map();
  const store = { getItem: (key) => kept.get(key) ?? null, setItem: (key, text) => kept.set(key, text) };
  remembered(store, "one", 1500, new Date(2026, 2, 5));
  assert.deepEqual(remembered(store, "two", 10, new Date(2026, 2, 6)), []);
  assert.deepEqual(remembered(store, "one", 2600, new Date(2026, 2, 6)), [["2026-03-05", 1500], ["2026-03-06", 2600]]); // prettier-ignore
});
