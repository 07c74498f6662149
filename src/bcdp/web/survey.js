/** The survey page: a form made from the plan, a look at what would be sent, and the sending. */

import { InputError, answerOnce, explain, keptReport, oddsOf, parsePlan, valueWord, verifyPlan } from "./bcdp.js";
import { element, factor, say, table } from "./page.js";

const MOST_BUTTONS = 7; // a longer list of values becomes a menu
const $ = (id) => document.getElementById(id);

async function start() {
  const response = await fetch("/v1/plan", { cache: "no-cache" });
  if (!response.ok) throw new InputError(`The server has no plan for this survey (status ${response.status}).`);
  const plan = await parsePlan(await response.text());
  verifyPlan(plan);
  const report = keptReport(plan, localStorage);
  if (report) return preview(plan, report);
  const fields = [...plan.features].map(([name, feature], index) => fieldOf(name, feature, `feature-${index}`));
  $("questions").append(...fields.map(({ node }) => node));
  $("promise").append(...promise(plan));
  restoreLimits(plan);
  $("form").addEventListener("submit", (event) => {
    event.preventDefault();
    const record = completed(fields);
    if (record && withinLimits(plan)) {
      preview(plan, attempt(() => answerOnce(plan, record, localStorage)));
      $("preview-title").focus();
    }
  });
  const checked = () => {
    const words = "Your device has computed this survey's promises again: they hold, under the assumption told below.";
    say($("status"), words, "good");
  };
  $("form").addEventListener("change", () => $("form").querySelector(".error:not([hidden])") ?? checked());
  checked();
  $("form").hidden = false;
}

/** The ticket of an invitation, which a link carries after `#ticket=`: browsers do not send that part of an address. */
function invitation() {
  return new URLSearchParams(location.hash.slice(1)).get("ticket");
}

// -------------------------------------------------------------------------------------------------------------- fields

/** A field for one feature: its `node`, and `read()`, which gives its value or shows the mistake and gives that. */
function fieldOf(name, feature, id) {
  const hints = [feature.help, rangeOf(feature), leftOut(feature)].filter(Boolean);
  const hint = element("p", { id: `${id}-hint`, class: "hint" }, hints.join(" "));
  const error = element("p", { id: `${id}-error`, class: "error", hidden: "" });
  const described = { "aria-describedby": `${id}-hint ${id}-error` };
  const { node, value, target } = CONTROLS[controlOf(feature)](feature, id, hint, error, described);
  const read = () => {
    const { mistake, given } = value();
    error.textContent = mistake ?? "";
    error.hidden = !mistake;
    for (const input of node.querySelectorAll("input, select")) input.setAttribute("aria-invalid", String(!!mistake));
    return { name, given, mistake, target };
  };
  node.addEventListener("change", () => error.hidden || read()); // a mistake that is mended disappears
  return { node, read };
}

const optional = (feature) => feature.missing !== null;

function leftOut(feature) {
  if (!optional(feature)) return null;
  const { type, imputed } = feature;
  const word = type === "numeric" ? imputed.toLocaleString("en") : valueWord(feature, imputed);
  return `May be left empty: counts as ${word}.`;
}

function rangeOf({ type, bounds }) {
  return type === "numeric" ? `From ${bounds[0].toLocaleString("en")} to ${bounds[1].toLocaleString("en")}.` : null;
}

function controlOf({ type, values }) {
  return type === "numeric" ? "number" : values.length <= MOST_BUTTONS ? "buttons" : "menu";
}

const CONTROLS = {
  number(feature, id, hint, error, described) {
    const [low, high] = feature.bounds;
    const accepted = `a number from ${low} to ${high}`;
    const input = element("input", { id, inputmode: "decimal", autocomplete: "off", ...described });
    const value = () => {
      const text = input.value.trim();
      if (!text) return optional(feature) ? { given: null } : { mistake: `Please enter ${accepted}.` };
      const given = Number(text);
      return given >= low && given <= high ? { given } : { mistake: `“${text}” is not ${accepted}.` };
    };
    const label = element("label", { for: id }, feature.label);
    return { node: element("div", { class: "field" }, label, hint, input, error), value, target: input };
  },

  buttons(feature, id, hint, error, described) {
    const inputs = feature.values.map((_, index) =>
      element("input", { type: "radio", name: id, id: `${id}-${index}`, value: index }),
    );
    const labels = inputs.map((input, index) =>
      element("label", { class: "choice", for: input.id }, input, valueWord(feature, index)),
    );
    const legend = element("legend", {}, feature.label);
    const choices = element("div", { class: "choices" }, ...labels);
    const node = element("fieldset", { class: "field", ...described }, legend, hint, choices, error);
    const value = () => chosen(feature, inputs.findIndex((input) => input.checked));
    return { node, value, target: inputs[0] };
  },

  menu(feature, id, hint, error, described) {
    const options = feature.values.map((_, index) => element("option", { value: index }, valueWord(feature, index)));
    const select = element("select", { id, ...described }, element("option", { value: "-1" }, ""), ...options);
    const node = element("div", { class: "field" }, element("label", { for: id }, feature.label), hint, select, error);
    return { node, value: () => chosen(feature, Number(select.value)), target: select };
  },
};

function chosen(feature, index) {
  if (index >= 0) return { given: feature.values[index] };
  return optional(feature) ? { given: null } : { mistake: "Please choose one." };
}

/** The record of all fields, or null if one of them needs another look; the first such is focused. */
function completed(fields) {
  const results = fields.map((field) => field.read());
  const wrong = results.filter(({ mistake }) => mistake);
  if (!wrong.length) return Object.fromEntries(results.map(({ name, given }) => [name, given]));
  const many = wrong.length === 1 ? "One answer needs" : `${wrong.length} answers need`;
  say($("status"), `${many} another look: please see what is written there.`, "bad");
  wrong[0].target.focus();
  return null;
}

// ------------------------------------------------------------------------------------------------- promises and limits

function guaranteeTable(plan, guarantees) {
  const all = { label: "All answers together", odds: oddsOf(plan.certificate.epsilon) };
  const rows = [...guarantees, all].map(({ label, odds }) => [label, `at most ${factor(odds)} times`]);
  const caption = "By how much whoever sees the message can raise the odds of a guess about your answers.";
  return table(caption, ["A guess about", "Its odds rise"], rows);
}

function promise(plan) {
  const report = { menu: 0, answer: 0 };
  return [
    guaranteeTable(plan, explain(plan, report).guarantees),
    element(
      "p",
      { class: "small" },
      `Your browser recomputed this from the ${plan.tables.length} public tables of the plan. It holds if people's ` +
        `answers to these questions are no more related than the plan says (${plan.correlation.source}).`,
    ),
  ];
}

function limitOf(input) {
  const text = input.value.trim();
  const limit = text ? Number(text) : Infinity;
  if (!(limit >= 1)) throw new InputError(`“${text}” is not a factor: please enter a number of at least 1.`);
  return Math.log(limit);
}

function withinLimits(plan) {
  const error = $("limit-error");
  try {
    verifyPlan(plan, { maxEpsilon: limitOf($("limit-epsilon")), maxDelta: limitOf($("limit-delta")) });
    error.hidden = true;
    return true;
  } catch (refusal) {
    const above = refusal.message.startsWith("certificate.");
    error.textContent = above ? "This survey tells more than your limits allow." : refusal.message;
    error.hidden = false;
    $("limits").open = true;
    $("limit-delta").focus();
    return false;
  }
}

function restoreLimits(plan) {
  for (const input of [$("limit-delta"), $("limit-epsilon")]) {
    input.value = localStorage.getItem(`bcdp.${input.id}`) ?? "";
    input.addEventListener("change", () => {
      localStorage.setItem(`bcdp.${input.id}`, input.value);
      withinLimits(plan);
    });
  }
}

// ------------------------------------------------------------------------------------------------- preview and sending

function preview(plan, report) {
  const already = localStorage.getItem(`bcdp.sent.${plan.id}`);
  const invited = { ...report, id: invitation() ?? report.id }; // the link may come after the answer was made
  const message = already ?? JSON.stringify({ plan: plan.id, reports: [invited] });
  const { sentences, hints, guarantees } = explain(plan, report);
  $("form").hidden = true;
  $("body").textContent = message;
  $("plan-id").textContent = plan.id;
  $("hints").replaceChildren(...sentences.slice(0, 1 + hints.length).map((sentence) => element("li", {}, sentence)));
  $("guarantees").replaceChildren(guaranteeTable(plan, guarantees));
  $("preview").hidden = false;
  if (already) return sent("You have already answered. This is what was sent.");
  say($("status"), "Your answer is ready and kept on this device. It has not been sent yet.");
  $("send").addEventListener("click", () => send(plan, message));
}

function sent(text) {
  say($("status"), text, "good");
  $("preview-title").textContent = "This, and nothing else, left your device";
  $("sending").hidden = true;
}

async function send(plan, message) {
  $("send").disabled = true;
  say($("status"), "Sending…");
  try {
    const response = await fetch("/v1/reports", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: message,
    });
    if (!response.ok) throw new Error(await reason(response));
    const { duplicate } = await response.json();
    localStorage.setItem(`bcdp.sent.${plan.id}`, message);
    sent(duplicate ? "This answer had already been received: it counts once." : "Your answer was received. Thank you!");
  } catch (error) {
    say($("status"), `It could not be sent: ${error.message} You may try again: the same answer counts once.`, "bad");
  }
  $("send").disabled = false;
  $("status").scrollIntoView({ block: "nearest" });
}

async function reason(response) {
  if (response.status === 409) return "this survey has changed meanwhile; reload the page to see the new one.";
  const { detail } = await response.json().catch(() => ({}));
  return `the server refused it${typeof detail === "string" ? ` (${detail})` : ` (status ${response.status})`}.`;
}

// --------------------------------------------------------------------------------------------------------------- start

function attempt(action) {
  try {
    return action();
  } catch (error) {
    stop(error);
    throw error;
  }
}

function stop(error) {
  $("form").hidden = true;
  const forgetful = error.name === "SecurityError"; // no local storage: the answer could not be remembered
  const why = forgetful ? "this browser is set to remember nothing, and an answer is given once." : error.message;
  say($("status"), `Your device does not answer this survey: ${why}`, "bad");
}

start().catch(stop);
