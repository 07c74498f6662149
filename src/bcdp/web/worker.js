/**
 * The device outside the page: reads and checks the plan, answers it, and says what a report hints at. Whatever a plan
 * makes it do, the page stays responsive, and can end it.
 */

import * as bcdp from "./bcdp.js";
import { reportDrawer } from "./device/answer.js";
import { batchNumbers } from "./device/wording/batch.js";

const MOST_FEATURES = 500; // a form beyond it is none, and the page would be held while it is drawn
const MOST_CHOICES = 20_000;

/** @type {import("./device/reading/plan.js").Plan} */
let plan = /** @type {any} */ (null);

/** @type {Record<string, (given: any) => unknown>} */
const ASKED = {
  /** Reads the plan and computes what it promises; claims that are not true are refused, whatever the limits are. */
  async check({ text }) {
    plan = await bcdp.parsePlan(text);
    const choices = [...plan.features.values(), ...plan.open.values()].reduce(
      (total, { values = [] }) => total + values.length,
      0,
    );
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
      batch: batchNumbers(plan),
      source: plan.correlation.source,
      menus: plan.menus.length,
      byTicket: plan.byTicket,
      separate: plan.separate,
      panel: plan.panel,
    };
  },

  /** A fresh report of a record: the page asks for it, keeps it and counts it while no other tab does. */
  async draw({ record, ticket, part = null }) {
    return (await reportDrawer(plan, ticket, part))(record);
  },

  /** This device's part in a panel, new or kept, what is to be done today, and when it is asked. */
  async join({ kept, ticket }) {
    const panel = await import("./device/panel.js");
    const part = await panel.partOf(plan, kept, ticket);
    const due = panel.dueOn(plan, part, panel.today());
    return { part, due, periods: panel.periodsOf(plan, part), menu: panel.menuNumber(plan, part) };
  },

  /** The part with what a question about a change needs of the earlier wave. */
  async prepare({ part, record }) {
    return (await import("./device/panel.js")).prepared(plan, part, record);
  },

  /** What a report costs, as a row of the ledger: the release of the menu that was drawn. */
  release({ report }) {
    return bcdp.releaseOf(plan, report.menu ?? 0); // of several messages, all of them together
  },

  /** The report in a kept text. */
  read({ kept }) {
    return bcdp.keptReport(plan, { getItem: () => kept });
  },

  hints({ report }) {
    return { hints: bcdp.hintedNumbers(plan, report), open: bcdp.openOf(plan, [report].flat()[0]) };
  },
};

addEventListener("message", async ({ data: { number, ask, given } }) => {
  try {
    postMessage({ number, done: await ASKED[ask](given) });
  } catch (/** @type {any} */ { name, message }) {
    postMessage({ number, failed: { name, message } });
  }
});
