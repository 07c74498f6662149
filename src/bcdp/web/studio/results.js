/** What a plan will tell and what it promises, as tables and a map; every number came from the planner or was computed here. */

import { tellBatch } from "../device/wording/tell_batch.js";
import { tellPromise } from "../device/wording/tell.js";
import { element, number, promised, promisedBatch, table } from "../page.js";
import { words as english } from "../words/en.js";
import { openNames, protectedNames } from "./policy.js";
import { digits, example, own } from "./words.js";

const LEVELS = 8; // shades of the map
const FOLLOW_UP = "The mean of a follow-up has a larger error: divide it by the share of the people who are asked.";

/** The errors to expect, for other people than those of the numbers if need be: errors fall as one over the root. */
export function shownLearned(policy, numbers, people, advise) {
  const scale = Math.sqrt(numbers.users / people);
  const scaled = (value) => (value === null || value === undefined ? null : value * scale);
  const rows = protectedNames(policy).map((name) => {
    const feature = policy.features[name];
    const { standard_error: error, standard_error_uniform_ldp: alike } = numbers.features[name];
    return [name, ...errorCells(feature, scaled(error), alike === undefined ? undefined : scaled(alike))];
  });
  const tasks = (numbers.tasks ?? []).map((task, place) => ({ ...task, ...numbers.expected[place] }));
  const [typical, told] = [tasks.filter(hasError), tasks.filter((task) => !hasError(task))];
  for (const { subject, standard_error: error, standard_error_uniform_ldp: alike, ...task } of typical) {
    const of = task.mean ? policy.features[task.mean] : { type: "share" };
    rows.push([`${subject}, ${each(task)}`, ...errorCells(of, scaled(error), scaled(alike))]);
  }
  const caption =
    `With ${people.toLocaleString("en")} people, in each feature's own units. ± is what holds 95 times out of 100: ` +
    "two standard errors, for a share of one half and numbers at their bounds, where they are largest. The last " +
    "column is for a survey that protects every feature like the most sensitive one." +
    (Object.values(policy.features).some((feature) => feature.asked_if) ? ` ${FOLLOW_UP}` : "");
  const errors = table(caption, ["Feature", "An estimate would be", "Standard error", "Equal protection"], rows);
  errors.className = "stacked";
  const cards = told.map(({ subject, lines }) =>
    element(
      "div",
      { class: people === numbers.users ? "card" : "card stale" }, // the planner tells them anew
      element("h3", {}, subject),
      ...lines.map((line) => element("p", { class: "small" }, line)),
    ),
  );
  const useless = Object.entries(numbers.little_use ?? {}).map(([name, use]) =>
    warned(policy, name, use, numbers, advise),
  );
  for (const [subject, why] of Object.entries(numbers.tasks_of_little_use ?? {})) {
    useless.push(element("p", { class: "note warn" }, `${subject}: ${why}`.replaceAll("+-", "± ")));
  }
  return [element("h2", {}, "What you will learn"), errors, ...(people === numbers.users ? useless : []), ...cards];
}

/** An estimate with its error, then the error with all features protected equally, which may be on its way. */
function errorCells(feature, error, alike) {
  const times = alike && error ? `${digits((alike / error) ** 2)} times the people` : "–";
  const compared = alike === undefined ? "…" : `${own(feature, alike)}; ${times}`;
  return [example(feature, error), own(feature, error), compared];
}

const hasError = (task) => task.standard_error !== undefined;
const each = ({ table: cells, by }) => (cells ? "each cell" : by ? "each group" : "below each edge");

function warned(policy, name, { half, useful, people }, { users }, advise) {
  const feature = policy.features[name];
  const list = element("ul", {});
  const action = element("button", { type: "button", class: "quiet" }, "What would make it useful?");
  action.addEventListener("click", () => {
    action.disabled = true;
    advise(name, list);
  });
  const twice = (value) => own(feature, value);
  const text =
    half === null
      ? `“${name}” is not asked: nothing is learned about it.`
      : `“${name}” is of little use with ${users.toLocaleString("en")} people: ± ${twice(half)}. ` +
        `± ${twice(useful)} takes about ${number(Number(people.toPrecision(2)))} people.`;
  return element("div", { class: "note warn" }, element("p", {}, text), action, list);
}

/** The promises, in words made from the numbers that this browser computed. */
export function shownPromises(policy, { promises, source, batch, between }) {
  const open = openNames(policy);
  const labels = new Map(protectedNames(policy).map((name) => [name, { label: name }]));
  const main = batch ? promisedBatch(tellBatch(batch, english, labels, open, between)) : [];
  const rows = promises.map((numbers) => tellPromise(numbers, english, numbers.name, open));
  const said = english.operatorSays(`“${source}”`);
  const note = element(
    "p",
    { class: "small" },
    "Computed by this browser from the plan's own tables, as every device will.",
  );
  const sent = open.map((name) => element("p", { class: "note warn" }, `${name}: ${english.openField}`));
  return [element("h2", {}, "What is promised"), ...main, ...promised(rows, said), ...sent, note];
}

/** What each menu tells of each feature: a map in which more colour is more. */
export function shownMenus(policy, { menus }) {
  const names = protectedNames(policy);
  const sorted = [...menus].sort((one, other) => other.share - one.share);
  const most = Math.max(...sorted.flatMap(({ odds }) => odds), 1.01);
  const shade = (odds) => Math.min(LEVELS, Math.round((LEVELS * Math.log(odds)) / Math.log(most)));
  const head = element(
    "tr",
    {},
    element("th", { scope: "col" }, "Devices, and what they are asked"),
    ...names.map((name) => element("th", { scope: "col" }, name)),
  );
  const rows = sorted.map(({ share, asks, odds }) => {
    const asked = asks.map((together) => together.join(" × ")).join(", ");
    const cells = odds.map((factor) =>
      element("td", { class: `heat heat-${shade(factor)}` }, `× ${factor.toFixed(2)}`),
    );
    return element(
      "tr",
      {},
      element("th", { scope: "row" }, `${number(Number((100 * share).toPrecision(2)))}%: ${asked}`),
      ...cells,
    );
  });
  const said = element(
    "p",
    { class: "small" },
    "A device is asked one line, which chance draws. Each number is the factor by which its answers can raise the odds " +
      "of a guess about the feature above, asked or not; more colour is more. The largest of a column is the promise.",
  );
  const node = element("table", { class: "heats" }, element("thead", {}, head), element("tbody", {}, ...rows));
  const frame = element(
    "div",
    { class: "scroll", tabindex: "0", role: "region", "aria-label": "What each menu tells, a map" },
    node,
  );
  return [element("h2", {}, "What each menu tells"), said, frame];
}

/** Whom to trust, as a choice: one row for each, at the same level. */
export function shownTrust(choices, names, people) {
  const caption =
    `With ${people.toLocaleString("en")} people: the level of whatever is seen, that of one report, which is the fallback, and ` +
    "how many openly asked people would have the same standard error, for each feature.";
  const node = table(caption, ["Whom to trust", "Hidden among", "Level", "One report", ...names], choices);
  node.className = "stacked";
  return [node];
}

/** What the published counts tell; nothing is said of few people. */
export function shownCounts({ counts_told: told, counts_said: said, users }) {
  if (!told?.length) return [];
  const caption = `If only the counts of ${users.toLocaleString("en")} people are published: by how much whoever sees them can raise the odds of a guess about one of them.`;
  const rows = told.map(({ name, label, told: words, condition }) => [name ?? label, words, condition]);
  const node = table(caption, ["A guess about", "Its odds rise", "On condition"], rows);
  node.className = "stacked promises";
  return [element("h2", {}, "What the published counts tell"), node, element("p", { class: "small" }, said)];
}

let shareOfFakes = 0.01; // kept from plan to plan

/** How far a share of fake reports could shift the estimates; another share is shown when it is chosen. */
export function shownFakes(policy, { fakes }) {
  if (!fakes?.some(({ shifts }) => Object.keys(shifts).length)) return [];
  const shown = element("div", { role: "status" });
  const paint = () => {
    const { shifts } = fakes.find(({ share }) => share === shareOfFakes);
    const caption =
      `If ${percent(shareOfFakes)} of the reports are fake: how far they could shift an estimate at most, in any ` +
      "population. Whoever sends one chooses its menu, unless tickets assign it, and its answer.";
    const rows = Object.entries(shifts).map(([name, shift]) => [name, own(policy.features[name], shift)]);
    const node = table(caption, ["Feature", "Its estimate shifts by up to"], rows);
    node.className = "stacked";
    shown.replaceChildren(node);
  };
  const options = fakes.map(({ share: value }) =>
    element("option", value === shareOfFakes ? { value, selected: "" } : { value }, percent(value)),
  );
  const select = element("select", {}, ...options);
  select.addEventListener("change", () => {
    shareOfFakes = Number(select.value);
    paint();
  });
  paint();
  const field = element("p", { class: "fields" }, element("label", {}, "Share of fake reports ", select));
  return [element("h2", {}, "What fake reports could do"), field, shown];
}

const percent = (share) => `${number(100 * share)}%`;
