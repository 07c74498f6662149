/**
 * Whether devices draw menus as the plan says. The draw does not depend on anybody's answers, so any deviation means
 * that some devices are broken, stale or dishonest, whatever the population is like.
 */

/** @typedef {{ expected: number, count: number, step: number }} Menu */

export const FALSE_ALARMS = 1e-6;
const FEWEST = 10; // expected in a cell, so that its square is distributed nearly as the test supposes

/**
 * The chi-square test of `[{ expected, count, step }]`, expected a probability: `{ statistic, degrees, limit, alarm }`,
 * or null while too few people answered to tell.
 *
 * A chi-square variable with d degrees of freedom is above `d + 2 sqrt(d x) + 2 x` with probability at most `exp(-x)`
 * (Laurent and Massart 2000, lemma 1). Rare menus are counted together. Counts are rounded to their step: the statistic is
 * the least that they allow, so that rounding causes no alarm.
 * @type {(menus: readonly Menu[], people: number) => { statistic: number, degrees: number, limit: number, alarm: boolean } | null}
 */
export function drift(menus, people) {
  const cells = [];
  let rare = { expected: 0, count: 0, slack: 0 };
  for (const { expected, count, step } of menus.toSorted((a, b) => a.expected - b.expected)) {
    rare = { expected: rare.expected + expected * people, count: rare.count + count, slack: rare.slack + step / 2 };
    if (rare.expected >= FEWEST) {
      cells.push(rare);
      rare = { expected: 0, count: 0, slack: 0 };
    }
  }
  if (cells.length < 2) return null; // the most frequent menu comes last, so that nothing is left over
  /** @type {(cell: typeof rare) => number} */
  const distance = ({ expected, count, slack }) => Math.max(0, Math.abs(count - expected) - slack);
  const statistic = cells.reduce((total, cell) => total + distance(cell) ** 2 / cell.expected, 0);
  const degrees = cells.length - 1;
  const x = -Math.log(FALSE_ALARMS);
  const limit = degrees + 2 * Math.sqrt(degrees * x) + 2 * x;
  return { statistic, degrees, limit, alarm: statistic > limit };
}
