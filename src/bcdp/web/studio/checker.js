/** Recomputes what a plan promises, beside the page: no promise is shown that this browser has not computed itself. */

import { certify, oddsOf, parsePlan, promisedNumbers, verifyPlan } from "../bcdp.js";

const TOTAL = 2 ** 32;

addEventListener("message", async ({ data: { text } }) => {
  try {
    const plan = await parsePlan(text);
    verifyPlan(plan, { maxEpsilon: Infinity }); // claims that are not true are refused
    const menus = plan.menus.map((menu) => {
      const { delta } = certify({ ...plan, menus: [menu] });
      const asks = menu.questions.map((number) => plan.questions[number].features);
      return { share: menu.weight / TOTAL, asks, odds: [...delta.values()].map(oddsOf) };
    });
    const { source } = plan.correlation;
    postMessage({ done: { id: plan.id, text, promises: promisedNumbers(plan), source, menus } });
  } catch ({ message }) {
    postMessage({ failed: { text, message } });
  }
});
