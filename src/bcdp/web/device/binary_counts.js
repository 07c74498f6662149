/** What the count of one binary question reveals, exactly but for a few people (theory.md, Theorem 15). */

import { TOTAL } from "./checks.js";

/** @typedef {import("./reading/questions.js").Parts} Parts */

const MOST_EXACT = 20_000; // people: more count as so many here
const BLOCK = 16;

/**
 * Theorem 15: the largest excess of the count of one binary question, over the numbers of ones among the others. Numbers
 * next to each other are taken together: one in 16 of the zeros is given away.
 * @type {(factor: number, keep: number, people: number) => number}
 */
export function binaryExcess(factor, keep, people) {
  const [gains, loses] = [keep - factor * (1 - keep), factor * keep - (1 - keep)];
  if (gains <= 0) return 1e-15;
  let worst = 0;
  for (const count of blocksOf(keep, Math.min(people, MOST_EXACT) - 1)) {
    let total = 0;
    for (let k = 0; k <= count.length; k += 1) {
      const term = gains * (1 + 1e-10) * (count[k - 1] ?? 0) - loses * (1 - 1e-10) * (count[k] ?? 0);
      if (term > 0) total += term;
    }
    worst = Math.max(worst, total);
  }
  return worst + 1e-15;
}

let [lastKeep, lastOthers] = [0, 0];
/** @type {Float64Array[]} */
let lastBlocks = [];

/**
 * The distributions of how many of the others answer 1, one for each block; the last ones are remembered.
 * @type {(keep: number, others: number) => Float64Array[]}
 */
function blocksOf(keep, others) {
  if (keep === lastKeep && others === lastOthers) return lastBlocks;
  [lastKeep, lastOthers, lastBlocks] = [keep, others, []];
  for (let top = others; top >= 0;) {
    const low = Math.max(0, top - Math.floor((others - top) / BLOCK));
    lastBlocks.push(sumOf(binomials(low, keep), binomials(others - top, 1 - keep)));
    top = low - 1;
  }
  return lastBlocks;
}

/**
 * The binomial chances of the numbers near the mode, in order; those beyond are below 1e-15 together.
 * @type {(n: number, share: number) => number[]}
 */
function binomials(n, share) {
  const mode = Math.min(n, Math.floor((n + 1) * share));
  const reach = Math.ceil(10 * Math.sqrt(n * share * (1 - share))) + 40;
  const [above, below] = [[1], [1]];
  for (let k = mode; k < Math.min(n, mode + reach); k += 1) {
    above.push((((above[k - mode] * (n - k)) / (k + 1)) * share) / (1 - share));
  }
  for (let k = mode; k > Math.max(0, mode - reach); k -= 1) {
    below.push((((below[mode - k] * k) / (n - k + 1)) * (1 - share)) / share);
  }
  const weights = [...below.slice(1).reverse(), ...above];
  const whole = weights.reduce((sum, weight) => sum + weight, 0);
  return weights.map((weight) => weight / whole);
}

/**
 * The chances of the sum of two independent numbers, given those of each.
 * @type {(one: number[], other: number[]) => Float64Array}
 */
function sumOf(one, other) {
  const total = new Float64Array(one.length + other.length - 1);
  for (let a = 0; a < one.length; a += 1) {
    for (let b = 0; b < other.length; b += 1) total[a + b] += one[a] * other[b];
  }
  return total;
}

/**
 * With which chance an answer is kept, if the whole plan is randomized response to one binary question; else 0.
 * @type {(plan: Parts) => number}
 */
export function keptBit({ menus, questions, tables }) {
  const table = tables[questions[menus[0].questions[0]].table];
  const one = menus.length === 1 && menus[0].questions.length === 1 && table.levels === 2 && table.symbols === 2;
  return one && table.weight(0, 0) === table.weight(1, 1)
    ? Math.max(table.weight(0, 0), table.weight(0, 1)) / TOTAL
    : 0;
}
