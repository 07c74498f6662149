// The alarm about menus: its rate of false alarms by exact sums, and its power.
import assert from "node:assert/strict";
import test from "node:test";

import { FALSE_ALARMS, drift } from "../../src/bcdp/web/drift.js";

const LOG_FACTORIALS = [0];
for (let n = 1; n <= 5000; n += 1) LOG_FACTORIALS.push(LOG_FACTORIALS[n - 1] + Math.log(n));

/** All ways to draw so many menus for so many people. */
function* draws(people, menus) {
  if (menus === 1) yield [people];
  else for (let n = 0; n <= people; n += 1) for (const rest of draws(people - n, menus - 1)) yield [n, ...rest];
}

/** A count as the collector tells it. */
function rounded(count) {
  const step = 10 ** (String(Math.floor(Math.sqrt(count))).length - 1);
  return { count: step * Math.round(count / step), step };
}

/** The chance of an alarm when menus are drawn with the actual chances: an exact sum over all counts. */
function chanceOfAlarm(people, expected, actual = expected) {
  let chance = 0;
  for (const counts of draws(people, expected.length)) {
    if (
      drift(
        expected.map((share, index) => ({ expected: share, ...rounded(counts[index]) })),
        people,
      )?.alarm
    ) {
      const logs = counts.map((count, index) => count * Math.log(actual[index]) - LOG_FACTORIALS[count]);
      chance += Math.exp(logs.reduce((total, log) => total + log, LOG_FACTORIALS[people]));
    }
  }
  return chance;
}

test("false alarms are as rare as stated, from the first answers on", () => {
  const cases = [1, 5, 10, 20, 50, 100, 300, 1000, 5000].flatMap((people) =>
    [0.002, 0.01, 0.05, 0.2, 0.5, 0.9].map((share) => [people, [share, 1 - share]]),
  );
  cases.push([100, [0.1, 0.1, 0.8]], [200, [0.06, 0.24, 0.7]], [300, [1 / 3, 1 / 3, 1 / 3]]);
  for (const [people, expected] of cases) {
    const chance = chanceOfAlarm(people, expected);
    assert.ok(chance <= FALSE_ALARMS, `${people} people, menus of chances ${expected}: ${chance}`);
  }
});

test("devices that prefer a menu are found", () => {
  assert.ok(chanceOfAlarm(5000, [0.2, 0.8], [0.26, 0.74]) > 0.999);
});

test("rare menus are counted together, and nobody is left out", () => {
  const menus = [{ expected: 0.9, count: 90, step: 1 }];
  menus.push(...Array.from({ length: 10 }, () => ({ expected: 0.01, count: 1, step: 1 })));
  assert.deepEqual(drift(menus, 100), { ...drift(menus, 100), statistic: 0, degrees: 1, alarm: false });
  const absent = [{ ...menus[0], count: 9000, step: 10 }, ...menus.slice(1).map((menu) => ({ ...menu, count: 0 }))];
  assert.equal(drift(absent, 10_000).alarm, true);
  assert.equal(drift([{ expected: 1, count: 1000, step: 10 }], 1000), null);
  const nobody = { expected: 0.5, count: 0, step: 1 };
  assert.equal(drift([nobody, nobody], 0), null);
});

test("rounding never raises the statistic", () => {
  for (let count = 0; count <= 5000; count += 7) {
    const exact = [count, 5000 - count].map((one) => ({ expected: 0.5, count: one, step: 0 }));
    const told = [count, 5000 - count].map((one) => ({ expected: 0.5, ...rounded(one) }));
    assert.ok(drift(told, 5000).statistic <= drift(exact, 5000).statistic);
  }
});
