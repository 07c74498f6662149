/** Recomputes what a plan promises, beside the page: no promise is shown that this browser has not computed itself. */

import { batchNumbers } from "../device/wording/batch.js";
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
    const relay = plan.relay && new URL(plan.relay.url).host;
    const organiser = plan.survey?.organiser ?? "the collector";
    const between = { collector: organiser, relay: relay ?? "" };
    const promises = promisedNumbers(plan);
    postMessage({ done: { id: plan.id, text, promises, source, menus, batch: batchNumbers(plan), between } });
  } catch ({ message }) {
    postMessage({ failed: { text, message } });
  }
});
