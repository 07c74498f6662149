/**
 * The device outside the page: reads and checks the plan, answers it, and says what a report hints at. Whatever a plan
 * makes it do, the page stays responsive, and can end it.
 */

import * as bcdp from "./bcdp.js";

const MOST_FEATURES = 500; // a form beyond it is none, and the page would be held while it is drawn
const MOST_CHOICES = 20_000;

let plan = null;

const ASKED = {
  /** Reads the plan and computes what it promises; claims that are not true are refused, whatever the limits are. */
  async check({ text }) {
    plan = await bcdp.parsePlan(text);
    const choices = [...plan.features.values(), ...plan.open.values()].reduce((total, { values = [] }) => total + values.length, 0);
    if (plan.features.size > MOST_FEATURES || choices > MOST_CHOICES) throw new RangeError("too large");
    bcdp.verifyPlan(plan, { maxEpsilon: Infinity });
    const { epsilon, features } = plan.certificate;
    return {
      id: plan.id,
      survey: plan.survey,
      relay: plan.relay,
      features: plan.features,
      open: plan.open,
      epsilon,
      usual: bcdp.MAX_EPSILON, // the limit of a person who sets none
      single: [...features.values()].reduce((highest, { certified }) => Math.max(highest, certified), 0),
      promises: bcdp.promisedNumbers(plan),
      source: plan.correlation.source,
      menus: plan.menus.length,
    };
  },

  /** The report of a record, and the text to keep; `kept` is the text that was kept before, or null. */
  answer({ record, kept }) {
    let keep = kept;
    const store = { getItem: () => kept, setItem: (_, text) => (keep = text) };
    return { report: bcdp.answerOnce(plan, record, store), keep };
  },

  /** The report in a kept text, or null. */
  read({ kept }) {
    return bcdp.keptReport(plan, { getItem: () => kept });
  },

  hints({ report }) {
    return { hints: bcdp.hintedNumbers(plan, report), open: bcdp.openOf(plan, report) };
  },
};

addEventListener("message", async ({ data: { ask, given } }) => {
  try {
    postMessage({ done: await ASKED[ask](given) });
  } catch ({ name, message }) {
    postMessage({ failed: { name, message } });
  }
});
