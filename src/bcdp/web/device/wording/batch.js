/**
 * The main promise of a plan that trusts more than devices: what a batch reveals, as numbers that a page puts into words.
 *
 * Levels are the plan's claims, which `verifyPlan` has checked. Python shows the same (`present/batch_promise.py`).
 */

import { byMenu } from "../certificate.js";
import { oddsOf } from "../exact.js";
import { linkedMenus } from "../reading/questions.js";
import { conditionOf } from "./promise.js";

/** @typedef {import("../reading/plan.js").Plan} Plan */
/** @typedef {{ name: string | null, odds: number, condition: import("./tell.js").Condition | null }} Counted */
/**
 * `people` in a batch, `honest` ones among them; it may fail once in so many `times`.
 * @typedef {{ trust: "relay" | "collector", people: number, honest: number, times: number, promises: Counted[] }} Batch
 */

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
    const within = linkedMenus(plan.menus).map((_, number) => bounds(number, name));
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
