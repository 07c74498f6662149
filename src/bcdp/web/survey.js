/** The survey page: a form made from the plan, a look at what would be sent, and the sending. */

import * as bcdp from "./bcdp.js";
import { element, promised, say } from "./page.js";

const { InputError, answerOnce, explain, keptReport, parsePlan, promises, valueWord, verifyPlan } = bcdp;
const MOST_BUTTONS = 7; // a longer list of values becomes a menu
const MOST_CALM = 90; // percent: where a guess at 50% could become more, nothing on the page looks reassuring
const $ = (id) => document.getElementById(id);

async function start() {
  const response = await fetch("/v1/plan", { cache: "no-cache" });
  if (!response.ok) throw new InputError(`The server has no plan for this survey (status ${response.status}).`);
  const plan = await parsePlan(await response.text());
  verifyPlan(plan, { maxEpsilon: Infinity }); // what it claims is true; the person's limits are looked at below
  restoreLimits(plan);
  const report = keptReport(plan, localStorage);
  if (report) return preview(plan, report);
  const fields = [...plan.features].map(([name, feature], index) => fieldOf(name, feature, `feature-${index}`));
  $("questions").append(...fields.map(({ node }) => node));
  $("promise").append(...promised(promises(plan), bcdp.operatorSays(plan)));
  $("form").addEventListener("submit", (event) => {
    event.preventDefault();
    const record = completed(fields);
    if (record && obeyed(plan)) {
      preview(plan, attempt(() => answerOnce(plan, record, localStorage)));
      $("preview-title").focus();
    }
  });
  $("form").addEventListener("change", () => $("form").querySelector(".error:not([hidden])") ?? judge(plan));
  $("form").hidden = false;
  judge(plan);
}

/** Says what the device found: green only where little could be told, and that it answers nothing beyond limits. */
function judge(plan) {
  const words = `with nothing assumed, a guess at 50% about your answers becomes at most ${becomes(plan).toFixed(1)}%.`;
  if (!withinLimits(plan)) {
    const refused = "Your device does not answer this survey, which is beyond the limits at the end of this page:";
    say($("status"), `${refused} ${words}`, "bad");
  } else if ($("preview").hidden) {
    const rest = "What it promises about single answers stands below, with its conditions.";
    say($("status"), `Your device has computed this survey's promises again: ${words} ${rest}`, kindFor(plan));
  } else say($("status"), "Your answer is ready and kept on this device. It has not been sent yet.");
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
const required = (feature) => (optional(feature) ? {} : { required: "" }); // without a rule the device would refuse

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
    const attributes = { inputmode: "decimal", autocomplete: "off", ...required(feature), ...described };
    const input = element("input", { id, ...attributes });
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
      element("input", { type: "radio", name: id, id: `${id}-${index}`, value: index, ...required(feature) }),
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
    const attributes = { id, ...required(feature), ...described };
    const select = element("select", attributes, element("option", { value: "-1" }, ""), ...options);
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

/** How probable, in percent, a guess at 50% about all answers together can become. */
const becomes = (plan) => bcdp.chanceOf(plan.certificate.epsilon);

/** The kind of a note that reassures: plain where too much could be told. */
function kindFor(plan) {
  const text = $("limit-calm").value.trim();
  return becomes(plan) <= (text ? Number(text) : MOST_CALM) ? "good" : "plain";
}

/** A limit in nats: the level of the factor that was entered, by the rule by which factors are shown. */
function limitOf(input, otherwise) {
  const text = input.value.trim();
  if (!text) return otherwise;
  const [, whole, fraction = ""] = /^([0-9]{1,12})(?:[.]([0-9]{0,12}))?$/.exec(text) ?? [];
  if (!(Number(whole) >= 1)) throw new InputError(`“${text}” is not a factor: please enter a number of at least 1.`);
  return bcdp.logUp({ top: BigInt(whole + fraction), bottom: 10n ** BigInt(fraction.length) });
}

/** Whether the plan's claims, found true at the start, are within the limits; where they are not, says so beside them. */
function withinLimits(plan) {
  const error = $("limit-error");
  const { epsilon, features } = plan.certificate;
  try {
    const [maxEpsilon, maxDelta] = [limitOf($("limit-epsilon"), bcdp.MAX_EPSILON), limitOf($("limit-delta"), Infinity)];
    const kept = epsilon <= maxEpsilon && [...features.values()].every(({ certified }) => certified <= maxDelta);
    if (!kept) throw new InputError("This survey tells more than your limits allow.");
    error.hidden = true;
    return true;
  } catch (refusal) {
    error.textContent = refusal.message;
    error.hidden = false;
    $("limits").open = true;
    return false;
  }
}

function obeyed(plan) {
  const kept = withinLimits(plan);
  if (!kept) $("limit-epsilon").focus();
  return kept;
}

function restoreLimits(plan) {
  const usual = bcdp.ENGLISH.factor(bcdp.oddsOf(bcdp.MAX_EPSILON));
  $("hint-epsilon").textContent = `If left empty: ${usual} times, an epsilon of ${bcdp.MAX_EPSILON}.`;
  $("hint-calm").textContent = `If left empty: ${MOST_CALM} percent.`;
  for (const input of $("limits").querySelectorAll("input")) {
    input.value = localStorage.getItem(`bcdp.${input.id}`) ?? "";
    input.addEventListener("change", () => {
      localStorage.setItem(`bcdp.${input.id}`, input.value);
      judge(plan);
    });
  }
  $("limits").hidden = false;
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
  $("guarantees").replaceChildren(...promised(guarantees, bcdp.operatorSays(plan)));
  $("preview").hidden = false;
  if (already) return sent(plan, "You have already answered. This is what was sent.");
  judge(plan);
  $("send").addEventListener("click", () => obeyed(plan) && send(plan, message));
}

function sent(plan, text) {
  say($("status"), text, kindFor(plan));
  $("limits").hidden = true;
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
    const received = "Your answer was received. Thank you!";
    sent(plan, duplicate ? "This answer had already been received: it counts once." : received);
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
