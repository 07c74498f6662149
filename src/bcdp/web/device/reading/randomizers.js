/** Tables: `weight(input, symbol)` of the 2^32 words send an input to a symbol (theory.md, 4.2). */

import { MOST_CELLS, MOST_VALUES, TOTAL, keys, least, list, most, refuse, whole } from "../checks.js";
import { larger, ratioOf } from "../exact.js";

/** @typedef {{ answers: number, step: number, width: number, high: number, low: number }} Wave */
/** @typedef {Wave & { start: number, first: number }} PlacedWave where its words and its answers begin */
/**
 * What the families state; every number is checked before it is used.
 * @typedef {{ levels: number, keep: number, other: number, order: number, weights: number[][], waves: number[][] }} Stated
 */
/**
 * @typedef {{ levels: number, symbols: number, ratio: import("../exact.js").Ratio,
 *   weight: (input: number, symbol: number) => number, sample: (input: number, word: number) => number }} Table
 */

const LARGEST_ORDER = 2 ** 14;
const MOST_BINS = 256;

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

  waves(path, { levels, waves }) {
    whole(`${path}.levels`, levels, 2, MOST_BINS);
    let [words, answered] = [0, 0];
    const read = list(`${path}.waves`, waves, 1).map((stated, number) => {
      const wave = readWave(`${path}.waves.${number}`, stated, levels);
      const placed = { ...wave, start: words, first: answered };
      words += wave.width * wave.high + (wave.answers - wave.width) * wave.low;
      answered += wave.answers;
      return placed;
    });
    /** @type {(begins: (wave: PlacedWave) => boolean) => PlacedWave} */
    const waveAt = (begins) => read.findLast(begins) ?? read[0];
    if (words > TOTAL) throw refuse(`${path}.waves`, words, `at most ${TOTAL} words in all`);
    checkCells(path, levels, answered + 1);
    return {
      levels,
      symbols: answered + 1,
      ratio: read.map(({ high, low }) => ratioOf(high, low)).reduce(larger),
      weight(input, symbol) {
        if (symbol === answered) return TOTAL - words; // silence
        const { answers, step, width, high, low, first } = waveAt((wave) => wave.first <= symbol);
        return (step * input + symbol - first) % answers < width ? high : low;
      },
      sample(input, word) {
        if (word >= words) return answered;
        const { answers, step, width, high, low, start, first } = waveAt((wave) => wave.start <= word);
        const [offset, likely] = [word - start, width * high];
        const place = offset < likely ? Math.floor(offset / high) : width + Math.floor((offset - likely) / low);
        return first + ((((place - step * input) % answers) + answers) % answers);
      },
    };
  },
};

/**
 * One wave: how many answers, the step from input to input, the width of the likely arc, and the two weights.
 * @type {(path: string, stated: any, levels: number) => Wave}
 */
function readWave(path, stated, levels) {
  if (list(path, stated).length !== 5) throw refuse(path, stated.length, "five numbers");
  const [answers, step, width, high, low] = stated;
  whole(`${path}.0`, answers, 2, 2 * levels);
  whole(`${path}.1`, step, 1, answers - 1);
  whole(`${path}.2`, width, 1, answers - 1);
  whole(`${path}.4`, low, 1, TOTAL);
  whole(`${path}.3`, high, low, TOTAL);
  return { answers, step, width, high, low };
}

/**
 * Refuses to go through a table of more than 2^22 weights.
 * @type {(path: string, levels: number, symbols: number) => void}
 */
export function checkCells(path, levels, symbols) {
  if (levels * symbols > MOST_CELLS) throw refuse(path, `${levels} x ${symbols} weights`, `at most ${MOST_CELLS}`);
}

/** @type {Record<string, string[]>} */
const FIELDS = {
  response: ["levels", "keep", "other"],
  dense: ["weights"],
  hadamard: ["levels", "order", "keep"],
  waves: ["levels", "waves"],
};

/** @type {(number: number) => number} */
function parity(number) {
  let odd = 0;
  for (; number; number &= number - 1) odd ^= 1;
  return odd;
}

/**
 * The table that a document describes, every number checked.
 * @type {(path: string, document: any) => Table & { family: string }}
 */
export function readTable(path, document) {
  const family = document?.family;
  if (!Object.hasOwn(FIELDS, String(family))) throw refuse(`${path}.family`, family, Object.keys(FIELDS).join(", "));
  keys(path, document, ["family", ...FIELDS[family]]);
  return { family, ...FAMILIES[family](path, document) };
}
