/** Tables of square waves; loaded with the plans that have one. */

import { TOTAL, checkCells, list, refuse, whole } from "../checks.js";
import { larger, ratioOf } from "../exact.js";

/** @typedef {{ answers: number, step: number, width: number, high: number, low: number }} Wave */
/** @typedef {Wave & { start: number, first: number }} PlacedWave where its words and its answers begin */

const MOST_BINS = 256;

/**
 * The table that waves describe: the words and the answers of each begin where those of the one before end.
 * @type {(path: string, document: import("./randomizers.js").Stated) => import("./randomizers.js").Table}
 */
export function readWaves(path, { levels, waves }) {
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
}

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
