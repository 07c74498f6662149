/** The main promise about a batch in words. No number is computed here. */

import { quoted, tellCondition } from "./tell.js";

/** @typedef {import("../../words/en.js").PageWords} PageWords */
/** @typedef {import("./batch.js").Batch} Batch */
/** @typedef {{ caption: string, rows: string[][], notes: string[], fallback: string }} ToldBatch */

/**
 * The main promise in words: rows of a table, whom one trusts for it, on what it counts, and what is left without.
 * @type {(batch: Batch, words: PageWords, labels: ReadonlyMap<string, { label: string }>, open: string[],
 *   between: { collector: string, relay: string }) => ToldBatch}
 */
export function tellBatch({ trust, people, honest, times, promises }, words, labels, open, { collector, relay }) {
  const relayed = trust === "relay";
  const count = words.number(people);
  const rows = promises.map(({ name, odds, condition }) => [
    name === null ? words.all : /** @type {{ label: string }} */ (labels.get(name)).label,
    odds === Infinity ? words.anyTimes : words.times(words.factor(odds)),
    condition === null ? words.nothingAssumed : tellCondition(condition, words, open),
  ]);
  return {
    caption: relayed ? words.batchRelay(count) : words.batchCollector(count),
    rows,
    notes: [
      relayed ? words.batchWho(quoted(collector), quoted(relay)) : words.batchTrust,
      words.batchHolds(words.number(honest), words.number(times)),
    ],
    fallback: relayed ? words.fallbackRelay : words.fallbackCollector,
  };
}
