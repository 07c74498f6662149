/**
 * The main promise of a plan that trusts more than devices: what a batch reveals, as numbers that a page puts into words.
 *
 * Levels are the plan's claims, which `verifyPlan` has checked. Python shows the same (`present/batch_promise.py`).
 */

import { byMenu } from "../certificate.js";
import { oddsOf } from "../exact.js";
import { conditionOf } from "./promise.js";
import { quoted, tellCondition } from "./tell.js";

/** @typedef {import("../reading/plan.js").Plan} Plan */
/** @typedef {import("../../words/en.js").PageWords} PageWords */
/** @typedef {{ name: string | null, odds: number, condition: import("./tell.js").Condition | null }} Counted */
/**
 * `people` in a batch, `honest` ones among them; it may fail once in so many `times`.
 * @typedef {{ trust: "relay" | "collector", people: number, honest: number, times: number, promises: Counted[] }} Batch
 */
/** @typedef {{ caption: string, rows: string[][], notes: string[], fallback: string }} ToldBatch */

/**
 * The numbers of the main promise; null where only devices are trusted.
 * @type {(plan: Plan) => Batch | null}
 */
export function batchNumbers(plan) {
  if (plan.counts === null) return null;
  const { trust, batch, people, chance, claims } = plan.counts;
  const whole = oddsOf(claims.odds);
  const { bounds } = byMenu(plan);
  const promises = [...claims.features].map(([name, { odds: level }]) => {
    const odds = oddsOf(level);
    if (odds === whole) return { name, odds, condition: null }; // the record's, which rests on nothing
    const within = plan.menus.map((_, number) => bounds(number, name));
    const known = [...plan.features.keys()].some((other) => other !== name && plan.correlation.laws(name, other));
    return { name, odds, condition: conditionOf(plan, name, within, known) };
  });
  const times = Math.floor((1 / chance) * (1 + 1e-12));
  return {
    trust,
    people: batch,
    honest: people,
    times,
    promises: [...promises, { name: null, odds: whole, condition: null }],
  };
}

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
