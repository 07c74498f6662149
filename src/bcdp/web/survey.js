/** The survey page: a form from the plan, a review, a look at what would be sent, and the sending. */

import { tellBatch } from "./device/wording/tell_batch.js";
import { quoted, tellHint, tellOpen, tellPromise } from "./device/wording/tell.js";
import { element, promised, promisedBatch, say } from "./page.js";
import { Failure, alone, startDevice } from "./survey/device.js";
import { fieldOf } from "./survey/fields.js";
import { inGrids } from "./survey/grids.js";
import { followUpsOf } from "./survey/follow_ups.js";
import { becomes, kindFor, showLimits, showTotal, withinLimits } from "./survey/limits.js";
import { answerTo, ledger, memory, remember, remembered, withoutFail } from "./survey/memory.js";
import { isAskedNow, join, keptForLater, whenAsked } from "./survey/panel.js";
import { fetchPlan, sendReports, senderFor } from "./survey/transport.js";
import { LANGUAGES, languageOf, loadLanguages, spoken, wordsOf } from "./words/choose.js";

const PARTS = ["gate", "form", "review", "preview"];
const $ = (id) => document.getElementById(id);
let words;
let device;
let sheet; // what the page knows of the plan; its `release` is what the report that was drawn costs
let sender; // how messages are sent
let invited = false; // whether the collection is by invitation
let offerDates = () => {}; // gives features that are dates their fields
let notAsked; // the questions that are not asked, given what is entered
let fields = []; // of the form; what is entered is in them and nowhere else
let ready = null; // the report on the page, and the text that is kept of it

async function start() {
  words = await wordsOf(languageOf(remembered("language"), navigator.languages));
  speak();
  window.bcdpStarted = true;
  offerLanguages();
  const plan = await fetchPlan();
  invited = plan.invited;
  const slow = setTimeout(() => say($("status"), words.checking), 1000);
  device = startDevice();
  const checked = await device.ask("check", { text: plan.text }).finally(() => clearTimeout(slow));
  notAsked = await followUpsOf(checked.features);
  if ([...checked.features.values()].some(({ dates }) => dates)) ({ offerDates } = await import("./survey/dates.js"));
  sender = await senderFor(checked.relay);
  if (checked.relay !== null) await loadLanguages(); // from here on, no request tells the collector what is done
  sheet = checked;
  open();
  addEventListener("hashchange", () => attempt(redraw)); // the link of an invitation
  addEventListener("popstate", () => $("review").hidden || edit());
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
    if (sheet) attempt(redraw);
  };
}

/** Shows the same again: in another language, or at another address. What was entered stays. */
async function redraw() {
  const [reviewed, drafts] = [!$("review").hidden, fields.map((field) => field.draft())];
  if (!$("preview").hidden && !$("sending").hidden) return begin() && preview(ready);
  open(drafts);
  if (reviewed && !$("form").hidden) review(completed());
}

/** Shows the survey from its beginning, or that this browser has an answer to it. */
function open(drafts = []) {
  const answer = answerTo(sheet);
  const exists = answer.exists(); // fails where nothing can be remembered
  if (!begin()) return;
  if (invited && inAddress("ticket") === null && !answer.wasSent()) return refuse(words.noTicket);
  if (exists) return gate(answer);
  if (!drafts.length) memory.probe(sheet);
  if (sheet.panel) attempt(() => takePart(drafts));
  else fillForm(drafts);
}

/** In a panel: the form, if this browser is asked today or takes part in nothing beyond the limits; else when it is. */
async function takePart(drafts) {
  sheet.joined = withinLimits(sheet, words) ? await alone(() => join(sheet.id, device, inAddress("ticket"))) : null;
  if (["now", "earlier", undefined].includes(sheet.joined?.due)) return fillForm(drafts);
  show(null);
  say($("status"), whenAsked(sheet.joined, words));
}

/** In a panel, when nothing is sent: prepares the answer about a change, and says when this browser is asked. */
async function notNow(record) {
  const text = await keptForLater(sheet, device, inAddress("ticket"), record, words);
  show(null);
  say($("status"), text, "good");
}

/** Shows what the organiser says, and the limits; refuses a plan that is not the one of the invitation. */
function begin() {
  $("way").hidden = true;
  translate();
  about();
  showLimits(sheet, words, judge);
  const expected = inAddress("plan");
  if (expected === null || expected.replace(/\s/g, "").toLowerCase() === sheet.id) return true;
  refuse(words.otherPlan);
  return false;
}

/** The features with the organiser's words in the page's language. */
function translate() {
  sheet.spoken = inOurWords(sheet.features);
  offerDates(sheet.spoken);
  sheet.spokenOpen = inOurWords(sheet.open);
  if (sheet.separate) $("lead").textContent = words.leadSeparate;
  else if (sheet.open.size) $("lead").textContent = words.leadOpen;
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

/** What a link says after `#`, which browsers do not send: the `ticket` of an invitation, the id of its `plan`. */
const inAddress = (key) => new URLSearchParams(location.hash.slice(1)).get(key);

function show(part) {
  for (const id of PARTS) $(id).hidden = id !== part;
  if (!["form", "review"].includes(part)) fields = [];
  warnBeforeLeaving();
  $("about").hidden = !sheet?.survey || ["review", "preview"].includes(part); // what is looked at there is the device's
}

/** Asks before the page is left or loaded again while something is entered, which is in this page alone. */
function warnBeforeLeaving() {
  const entered = fields.some((field) => field.draft() !== null);
  window.onbeforeunload = entered ? (event) => event.preventDefault() : null;
}

function refuse(text) {
  show(null);
  say($("status"), text, "bad");
}

// ------------------------------------------------------------------------------------- what is kept, and another person

function gate(answer) {
  const sent = answer.wasSent();
  $("send").disabled = false;
  show("gate");
  say($("status"), sent ? words.keptSent : words.keptUnsent);
  $("mine").hidden = sent;
  $("mine").onclick = () => attempt(() => alone(() => showKept(answer)));
  $("another").onclick = () =>
    attempt(async () => {
      await alone(() => answer.forget());
      sheet.release = null;
      open();
    });
}

/** Shows the report that is kept now; another tab may have sent it meanwhile. */
async function showKept(answer) {
  const kept = answer.kept();
  if (kept === null) return open();
  const report = await device.ask("read", { kept });
  sheet.release = await device.ask("release", { report });
  ledger.add(sheet.release);
  await preview({ kept, report });
}

// ---------------------------------------------------------------------------------------------------- form and review

function fillForm(drafts) {
  const asked = [...sheet.spokenOpen, ...sheet.spoken];
  fields = asked.map(([name, feature], index) => fieldOf(name, feature, `feature-${index}`, words, drafts[index]));
  const [features, nodes] = [asked.map(([, feature]) => feature), fields.map(({ node }) => node)];
  $("questions").replaceChildren(...inGrids(features, nodes));
  showAsked();
  const summary = $("promise").querySelector("summary");
  $("promise").replaceChildren(summary, ...promiseTable());
  $("look").textContent = "";
  $("form").oninput = () => {
    showAsked();
    if ($("look").textContent) tellMistakes();
    warnBeforeLeaving();
  };
  $("form").onsubmit = (event) => {
    event.preventDefault();
    const entries = completed();
    if (!entries || !obeyed()) return;
    history.pushState(null, ""); // the browser's way back leads to the form
    review(entries);
  };
  show("form");
  judge();
}

/** Follow-ups appear when they are asked, and nothing else of the page tells whether they are. */
function showAsked() {
  const hidden = notAsked(new Map(fields.map(({ name, given }) => [name, given()])));
  for (const { name, node } of fields) node.hidden = hidden.has(name);
}

const askedFields = () => fields.filter(({ node }) => !node.hidden);

/** What was read of every field that is asked, or null if one of them needs another look; the first such is focused. */
function completed() {
  const entries = askedFields().map((field) => field.read());
  entries.find(({ mistake }) => mistake)?.target.focus();
  return tellMistakes() ? null : entries;
}

/** Says how many fields show a mistake, and gives their number. */
function tellMistakes() {
  const wrong = askedFields().filter((field) => field.isWrong()).length;
  $("look").textContent = ["", words.lookOne][wrong] ?? words.lookMany(words.number(wrong));
  return wrong;
}

/** Everything as it was read, to be looked at before it becomes an answer for ever. */
function review(entries) {
  if (!entries) return;
  $("entered").replaceChildren(...entries.flatMap(({ label, told: text }) => told(label, text)));
  $("change").onclick = () => history.back();
  $("show").onclick = () =>
    attempt(() => makeAnswer(Object.fromEntries(entries.map(({ name, given }) => [name, given]))));
  show("review");
  $("review-title").focus();
}

/** From the review back to the form. */
function edit() {
  show("form");
  $("questions").querySelector("input, select").focus();
}

/** Draws the report, unless this browser has drawn one: whatever other tabs did meanwhile, there is never a second. */
async function makeAnswer(record) {
  const answer = answerTo(sheet);
  $("show").disabled = true;
  await alone(async () => {
    if (answer.exists()) return answer.wasSent() ? open() : showKept(answer);
    if (!obeyed()) return; // another tab may have spent what was left
    if (sheet.panel && !(await isAskedNow(sheet, device, inAddress("ticket")))) return notNow(record);
    const report = await device.ask("draw", { record, ticket: inAddress("ticket"), part: sheet.joined?.part });
    const release = await device.ask("release", { report });
    if (answer.exists()) return open(); // where there are no locks
    const kept = JSON.stringify(report);
    answer.keep(kept, release);
    sheet.release = release;
    await preview({ kept, report });
  }).finally(() => ($("show").disabled = false));
  if (!$("preview").hidden) $("preview-title").focus();
}

// ------------------------------------------------------------------------------------------------- promises and limits

function promiseTable() {
  const open = [...sheet.spokenOpen.values()].map(({ label }) => label);
  const rows = sheet.promises.map((told) => tellPromise(told, words, sheet.spoken.get(told.name)?.label, open));
  const each = promised(rows, words.operatorSays(quoted(sheet.source)), words);
  if (sheet.batch === null) return each;
  const collector = sheet.survey?.organiser ?? location.host;
  const relay = sheet.relay === null ? "" : new URL(sheet.relay.url).host;
  return [...promisedBatch(tellBatch(sheet.batch, words, sheet.spoken, open, { collector, relay }), words), ...each];
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

async function preview(shown) {
  const { report, kept } = (ready = shown);
  const ticket = sheet.separate || sheet.byTicket ? null : inAddress("ticket"); // the link may come after the answer
  const message = (each) => JSON.stringify({ plan: sheet.id, reports: [{ ...each, id: ticket ?? each.id }] });
  const messages = [report].flat().map(message);
  const { hints, open } = await device.ask("hints", { report });
  const sentences = [
    sheet.separate ? words.separate(sheet.menus) : words.chance(sheet.menus),
    ...hints.map((hint) => tellHint(hint, words, sheet.spoken).sentence),
    ...tellOpen(open, words, sheet.spokenOpen),
  ];
  $("body").textContent = messages.join("\n");
  $("plan-id").textContent = sheet.id.match(/.{4}/g).join(" ");
  $("seen").textContent = sheet.relay === null ? words.serverSees : words.relaySees(new URL(sheet.relay.url).host);
  $("preview-title").textContent = words.previewTitle;
  $("sending").hidden = false;
  $("hints").replaceChildren(...sentences.map((sentence) => element("li", {}, sentence)));
  $("guarantees").replaceChildren(...promiseTable());
  $("send").onclick = () => obeyed() && send(messages, kept);
  showTotal(sheet, words);
  show("preview");
  judge();
}

async function send(messages, kept) {
  const answer = answerTo(sheet);
  $("send").disabled = true;
  $("way").hidden = true;
  say($("status"), words.sending);
  try {
    await alone(async () => {
      if (answer.kept() !== kept) return open(); // another tab has sent it, or another person has begun
      const tried = messages.join("\n");
      const before = answer.triedBefore(tried);
      withoutFail(() => answer.trying(tried));
      const duplicate = await sendReports(messages, sender);
      arrived(answer, !duplicate ? "received" : before ? "duplicate" : "usedElsewhere");
    });
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

const waitBefore = (button, seconds) => setTimeout(() => (button.disabled = false), seconds * 1000);

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
