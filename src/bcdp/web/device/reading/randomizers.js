/** Tables: `weight(input, symbol)` of the 2^32 words send an input to a symbol (theory.md, 4.2). */

import { MOST_VALUES, TOTAL, checkCells, keys, least, list, most, refuse, whole } from "../checks.js";
import { larger, ratioOf } from "../exact.js";

/**
 * What the families state; every number is checked before it is used.
 * @typedef {{ levels: number, keep: number, other: number, order: number, weights: number[][], waves: number[][],
 *   field: number, dimension: number, high: number, low: number }} Stated
 */
/**
 * @typedef {{ levels: number, symbols: number, ratio: import("../exact.js").Ratio,
 *   weight: (input: number, symbol: number) => number, sample: (input: number, word: number) => number,
 *   ends?: [number, number] }} Table `ends` are the most and the least that two rows overlap, where these are known
 */

const LARGEST_ORDER = 2 ** 14;

/** @type {Record<string, (path: string, document: Stated) => Table>} */
const FAMILIES = {
  response(path, { levels, keep, other }) {
    whole(`${path}.levels`, levels, 2, MOST_VALUES);
    whole(`${path}.other`, other, 1, Math.floor(TOTAL / levels));
    if (whole(`${path}.keep`, keep, other, TOTAL) + (levels - 1) * other !== TOTAL) {
      throw refuse(`${path}.keep`, keep, `keep + (levels - 1) other = ${TOTAL}`);
    }
    return {
      levels,
      symbols: levels,
      ratio: ratioOf(keep, other),
      weight: (input, symbol) => (input === symbol ? keep : other),
      sample(input, word) {
        if (word < keep) return input;
        const index = Math.floor((word - keep) / other);
        return index < input ? index : index + 1;
      },
    };
  },

  dense(path, { weights }) {
    const symbols = list(`${path}.weights.0`, list(`${path}.weights`, weights, 1)[0], 1).length;
    checkCells(path, weights.length, symbols);
    weights.forEach((row, input) => {
      if (list(`${path}.weights.${input}`, row).length !== symbols) {
        throw refuse(`${path}.weights.${input}`, row.length, `rows of one length, ${symbols}`);
      }
      const sum = row.reduce((total, weight) => total + whole(`${path}.weights.${input}`, weight, 0, TOTAL), 0);
      if (sum !== TOTAL) throw refuse(`${path}.weights.${input}`, sum, `a sum of ${TOTAL}`);
    });
    const columns = weights[0].map((_, symbol) => weights.map((row) => row[symbol]));
    const extremes = columns.map((column) => [least(column), most(column)]).filter(([, top]) => top > 0);
    return {
      levels: weights.length,
      symbols,
      ratio: extremes.map(([bottom, top]) => ratioOf(top, bottom)).reduce(larger),
      weight: (input, symbol) => weights[input][symbol],
      sample(input, word) {
        let symbol = 0;
        for (let end = weights[input][0]; word >= end; end += weights[input][symbol]) symbol += 1;
        return symbol;
      },
    };
  },

  hadamard(path, { levels, order, keep }) {
    whole(`${path}.levels`, levels, 2, LARGEST_ORDER);
    if (whole(`${path}.order`, order, levels, LARGEST_ORDER) & (order - 1)) {
      throw refuse(`${path}.order`, order, "a power of 2");
    }
    const cell = TOTAL / order;
    whole(`${path}.keep`, keep, Math.floor(cell / 2), cell - 1);
    return {
      levels,
      symbols: 2 * order,
      ratio: ratioOf(keep, cell - keep),
      weight: (input, symbol) => (parity((symbol >> 1) & input) === (symbol & 1) ? keep : cell - keep),
      sample(input, word) {
        const row = Math.floor(word / cell);
        const flipped = word % cell >= keep ? 1 : 0;
        return 2 * row + (parity(row & input) ^ flipped);
      },
    };
  },
};

/**
 * Those of few plans, loaded with them.
 * @type {Record<string, () => Promise<(path: string, document: Stated) => Table>>}
 */
const SELDOM = {
  waves: async () => (await import("./waves.js")).readWaves,
  projective: async () => (await import("../projective.js")).readProjective,
};

/** @type {Record<string, string[]>} */
const FIELDS = {
  response: ["levels", "keep", "other"],
  dense: ["weights"],
  hadamard: ["levels", "order", "keep"],
  waves: ["levels", "waves"],
  projective: ["levels", "field", "dimension", "high", "low"],
};

/** @type {(number: number) => number} */
function parity(number) {
  let odd = 0;
  for (; number; number &= number - 1) odd ^= 1;
  return odd;
}

/**
 * The table that a document describes, every number checked.
 * @type {(path: string, document: any) => Promise<Table & { family: string }>}
 */
export async function readTable(path, document) {
  const family = document?.family;
  if (!Object.hasOwn(FIELDS, String(family))) throw refuse(`${path}.family`, family, Object.keys(FIELDS).join(", "));
  keys(path, document, ["family", ...FIELDS[family]]);
  const read = FAMILIES[family] ?? (await SELDOM[family]());
  return { family, ...read(path, document) };
}
