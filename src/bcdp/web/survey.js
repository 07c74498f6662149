/** The survey page: a form from the plan, a review, a look at what would be sent, and the sending. */

import { quoted, tellHint, tellOpen, tellPromise } from "./device/tell.js";
import { element, promised, say } from "./page.js";
import { Failure, alone, startDevice } from "./survey/device.js";
import { fieldOf } from "./survey/fields.js";
import { becomes, kindFor, showLimits, withinLimits } from "./survey/limits.js";
import { answerTo, ledger, memory } from "./survey/memory.js";
import { fetchPlan, sendReport } from "./survey/transport.js";
import { LANGUAGES, languageOf, spoken, wordsOf } from "./words/choose.js";

const PARTS = ["gate", "form", "review", "preview"];
const $ = (id) => document.getElementById(id);
let words;
let device;
let sheet; // what the page knows of the plan
let invited = false; // whether the collection is by invitation

async function start() {
  words = await wordsOf(languageOf(remembered("language"), navigator.languages));
  speak();
  window.bcdpStarted = true;
  offerLanguages();
  const plan = await fetchPlan();
  invited = plan.invited;
  const slow = setTimeout(() => say($("status"), words.checking), 1000);
  device = startDevice();
  sheet = await device.ask("check", { text: plan.text }).finally(() => clearTimeout(slow));
  open();
}

/** The page in its language, as far as it is known what to show. */
function speak() {
  Object.assign(document.documentElement, { lang: words.code, dir: words.direction });
  document.title = words.title;
  for (const node of document.querySelectorAll("[data-say]")) node.textContent = words[node.dataset.say];
  $("body").setAttribute("aria-label", words.message);
  $("reload").textContent = words.reload;
  $("reload").onclick = () => location.reload();
  say($("status"), words.reading);
}

function offerLanguages() {
  const option = ([code, name]) => element("option", { value: code, lang: code }, name);
  $("language").replaceChildren(...Object.entries(LANGUAGES).map(option));
  $("language").value = words.code;
  $("languages").hidden = false;
  $("language").onchange = async () => {
    remember("language", $("language").value);
    words = await wordsOf($("language").value);
    speak();
    if (sheet) open();
  };
}

/** What the person chose before, if this browser remembers anything; one that cannot says so when it matters. */
const remembered = (key) => withoutFail(() => memory.get(key));
const remember = (key, value) => withoutFail(() => memory.set(key, value));

function withoutFail(action) {
  try {
    return action();
  } catch {
    return null;
  }
}

/** Shows the survey from its beginning, or that this browser has an answer to it. */
function open() {
  const answer = answerTo(sheet.id);
  const [kept, wasSent] = [answer.kept(), answer.wasSent()]; // fails where nothing can be remembered
  translate();
  about();
  showLimits(sheet, words, judge);
  if (invited && invitation() === null && !wasSent) return refuse(words.noTicket);
  if (kept !== null || wasSent) return gate(answer, kept, wasSent);
  fillForm();
}

/** The features with the organiser's words in the page's language. */
function translate() {
  sheet.spoken = inOurWords(sheet.features);
  sheet.spokenOpen = inOurWords(sheet.open);
  if (sheet.open.size) $("lead").textContent = words.leadOpen;
}

const inOurWords = (features) =>
  new Map(
    [...features].map(([name, feature]) => {
      const label = spoken(feature.label, feature.labels, words.code);
      const help = spoken(feature.help, feature.helps, words.code);
      return [name, { ...feature, label, help, valueWords: spoken(null, feature.valueLabels, words.code) }];
    }),
  );

/** What the organiser says, apart from what the device computed. */
function about() {
  const { survey } = sheet;
  if (survey === null) return;
  const title = spoken(survey.title, survey.titles, words.code);
  document.title = title;
  $("survey-title").textContent = title;
  const facts = [
    [words.purpose, spoken(survey.purpose, survey.purposes, words.code)],
    [words.organiser, survey.organiser],
    [words.contact, survey.contact],
    [words.duration, survey.minutes ? words.minutes(words.number(survey.minutes)) : null],
    [words.decline, spoken(survey.decline ?? null, survey.declines, words.code)],
  ];
  $("survey-facts").replaceChildren(...facts.filter(([, text]) => text).flatMap(([name, text]) => told(name, text)));
}

const told = (name, text) => [element("dt", { dir: "auto" }, name), element("dd", { dir: "auto" }, text)];

/** The ticket of an invitation, which a link carries after `#ticket=`: browsers do not send that part of an address. */
const invitation = () => new URLSearchParams(location.hash.slice(1)).get("ticket");

function show(part) {
  for (const id of PARTS) $(id).hidden = id !== part;
  $("about").hidden = !sheet?.survey || ["review", "preview"].includes(part); // what is looked at there is the device's
}

function refuse(text) {
  show(null);
  say($("status"), text, "bad");
}

// ------------------------------------------------------------------------------------- what is kept, and another person

function gate(answer, kept, wasSent) {
  show("gate");
  say($("status"), wasSent ? words.keptSent : words.keptUnsent);
  $("mine").hidden = wasSent;
  $("mine").onclick = () => attempt(async () => preview(await device.ask("read", { kept })));
  $("another").onclick = () =>
    attempt(() => {
      answer.forget();
      showLimits(sheet, words, judge);
      fillForm();
    });
}

// ---------------------------------------------------------------------------------------------------- form and review

function fillForm() {
  const asked = [...sheet.spokenOpen, ...sheet.spoken];
  const fields = asked.map(([name, feature], index) => fieldOf(name, feature, `feature-${index}`, words));
  $("questions").replaceChildren(...fields.map(({ node }) => node));
  const summary = $("promise").querySelector("summary");
  $("promise").replaceChildren(summary, ...promiseTable());
  $("look").textContent = "";
  $("form").onsubmit = (event) => {
    event.preventDefault();
    const entries = completed(fields);
    if (entries && obeyed()) review(entries);
  };
  show("form");
  judge();
}

/** What was read of every field, or null if one of them needs another look; the first such is focused. */
function completed(fields) {
  const entries = fields.map((field) => field.read());
  const wrong = entries.filter(({ mistake }) => mistake);
  const many = () => (wrong.length === 1 ? words.lookOne : words.lookMany(words.number(wrong.length)));
  $("look").textContent = wrong.length ? many() : "";
  wrong[0]?.target.focus();
  return wrong.length ? null : entries;
}

/** Everything as it was read, to be looked at before it becomes an answer for ever. */
function review(entries) {
  $("entered").replaceChildren(...entries.flatMap(({ label, told: text }) => told(label, text)));
  $("change").onclick = () => {
    show("form");
    $("questions").querySelector("input, select").focus();
  };
  $("show").onclick = () =>
    attempt(() => makeAnswer(Object.fromEntries(entries.map(({ name, given }) => [name, given]))));
  show("review");
  $("review-title").focus();
}

async function makeAnswer(record) {
  if (!obeyed()) return;
  $("show").disabled = true;
  const answer = answerTo(sheet.id);
  const report = await alone(async () => {
    if (!withinLimits(sheet, words)) return null; // another tab may have spent what was left
    const made = await device.ask("answer", { record, kept: answer.kept() });
    ledger.add(sheet);
    answer.keep(made.keep);
    return made.report;
  }).finally(() => ($("show").disabled = false));
  if (report) await preview(report);
  $("preview-title").focus();
}

// ------------------------------------------------------------------------------------------------- promises and limits

function promiseTable() {
  const open = [...sheet.spokenOpen.values()].map(({ label }) => label);
  const rows = sheet.promises.map((told) => tellPromise(told, words, sheet.spoken.get(told.name)?.label, open));
  return promised(rows, words.operatorSays(quoted(sheet.source)), words);
}

/** Says what the device computed: green only where little could be given away, and that it answers nothing beyond limits. */
function judge() {
  const chance = words.percent(becomes(sheet), 1);
  if (!withinLimits(sheet, words)) say($("status"), words.refused(chance), "bad");
  else if ($("preview").hidden) say($("status"), words.checked(chance), kindFor(sheet));
  else say($("status"), words.ready);
}

function obeyed() {
  const kept = withinLimits(sheet, words);
  judge();
  if (!kept) $("limit-epsilon").focus();
  return kept;
}

// ------------------------------------------------------------------------------------------------- preview and sending

async function preview(report) {
  const invited = { ...report, id: invitation() ?? report.id }; // the link may come after the answer
  const message = JSON.stringify({ plan: sheet.id, reports: [invited] });
  const { hints, open } = await device.ask("hints", { report });
  const sentences = [
    words.chance(sheet.menus),
    ...hints.map((hint) => tellHint(hint, words, sheet.spoken).sentence),
    ...tellOpen(open, words, sheet.spokenOpen),
  ];
  $("body").textContent = message;
  $("plan-id").textContent = sheet.id;
  $("seen").textContent = sheet.relay === null ? words.serverSees : words.relaySees(new URL(sheet.relay.url).host);
  $("hints").replaceChildren(...sentences.map((sentence) => element("li", {}, sentence)));
  $("guarantees").replaceChildren(...promiseTable());
  $("send").onclick = () => obeyed() && send(message);
  show("preview");
  judge();
}

async function send(message) {
  const answer = answerTo(sheet.id);
  $("send").disabled = true;
  $("way").hidden = true;
  say($("status"), words.sending);
  try {
    const before = answer.triedBefore(message);
    withoutFail(() => answer.trying(message));
    const { duplicate } = await sendReport(message, sheet.relay);
    arrived(answer, !duplicate ? "received" : before ? "duplicate" : "usedElsewhere");
  } catch (failure) {
    say($("status"), words.notSent(reasonOf(failure)), "bad");
    $("way").hidden = failure.key !== "changed";
    $("send").textContent = words.sendAgain;
    waitBefore($("send"), failure.key === "tooOften" ? failure.detail[0] : 0);
  }
  $("status").scrollIntoView({ block: "nearest" });
}

/** The answer has arrived, or another one in its place; that cannot fail any more. */
function arrived(answer, key) {
  $("limits").hidden = true;
  $("preview-title").textContent = key === "usedElsewhere" ? words.previewTitle : words.leftTitle;
  $("sending").hidden = true;
  const kept = withoutFail(() => answer.sent() ?? true);
  const kind = key === "usedElsewhere" ? "bad" : kindFor(sheet);
  say($("status"), kept || key === "usedElsewhere" ? words[key] : words.sentUnkept, kind);
}

function waitBefore(button, seconds) {
  setTimeout(() => (button.disabled = false), seconds * 1000);
}

// ------------------------------------------------------------------------------------------------------------ failures

/** A failure in the page's words. */
function reasonOf(failure) {
  if (!(failure instanceof Failure)) return failure.message;
  const word = words[failure.key];
  return typeof word === "function" ? word(...failure.detail) : word;
}

async function attempt(action) {
  try {
    await action();
  } catch (failure) {
    stop(failure);
  }
}

function stop(failure) {
  refuse(words.notAnswered(reasonOf(failure)));
  $("way").hidden = false;
  window.bcdpStarted = true;
}

start().catch(stop);
