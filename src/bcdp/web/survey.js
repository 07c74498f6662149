/** The survey page: what it is about, its questions step by step, a review, a look at what would be sent, the sending. */

import { element, say } from "./page.js";
import { alone, startDevice } from "./survey/device.js";
import { followUpsOf } from "./survey/follow_ups.js";
import { showAbout } from "./survey/intro.js";
import { showLimits, withinLimits } from "./survey/limits.js";
import { answerTo, ledger, memory, remember, remembered } from "./survey/memory.js";
import { isAskedNow, join, keptForLater, whenAsked } from "./survey/panel.js";
import { end, preview } from "./survey/sending.js";
import { $, attempt, inAddress, judge, obeyed, refuse, show, state, stop } from "./survey/state.js";
import { fetchPlan, senderFor } from "./survey/transport.js";
import { fillForm, forgetDrafts, listen, recall } from "./survey/walk.js";
import { LANGUAGES, languageOf, loadLanguages, spoken, wordsOf } from "./words/choose.js";

let offerDates = () => {}; // gives features that are dates their fields

async function start() {
  state.words = await wordsOf(languageOf(remembered("language"), navigator.languages));
  speak();
  window.bcdpStarted = true;
  offerLanguages();
  const plan = await fetchPlan();
  state.invited = plan.invited;
  const slow = setTimeout(() => say($("status"), state.words.checking), 1000);
  state.device = startDevice();
  const checked = await state.device.ask("check", { text: plan.text }).finally(() => clearTimeout(slow));
  state.notAsked = await followUpsOf(checked.features);
  if ([...checked.features.values()].some(({ dates }) => dates)) ({ offerDates } = await import("./survey/dates.js"));
  state.sender = await senderFor(checked.relay);
  if (checked.relay !== null) await loadLanguages(); // from here on, no request tells the collector what is done
  state.sheet = checked;
  recall();
  listen();
  $("show").onclick = () => attempt(makeAnswer);
  addEventListener("hashchange", () => attempt(redraw)); // the link of an invitation
  open();
}

/** The page in its language, as far as it is known what to show. */
function speak() {
  Object.assign(document.documentElement, { lang: state.words.code, dir: state.words.direction });
  document.title = state.words.title;
  $("title").textContent = state.words.title;
  for (const node of document.querySelectorAll("[data-say]")) node.textContent = state.words[node.dataset.say];
  $("body").setAttribute("aria-label", state.words.message);
  $("reload").textContent = state.words.reload;
  $("reload").onclick = () => location.reload();
  say($("status"), state.words.reading);
}

function offerLanguages() {
  const option = ([code, name]) => element("option", { value: code, lang: code }, name);
  $("language").replaceChildren(...Object.entries(LANGUAGES).map(option));
  $("language").value = state.words.code;
  $("languages").hidden = false;
  $("language").onchange = async () => {
    remember("language", $("language").value);
    state.words = await wordsOf($("language").value);
    speak();
    if (state.sheet) attempt(redraw);
  };
}

/** Shows the same again: in another language, or at another address. What was entered stays. */
async function redraw() {
  if (["preview", "thanks"].includes(state.part)) {
    if (begin()) await preview(state.ready, open);
    if (state.ended) end();
    return;
  }
  history.replaceState({ place: state.place }, "");
  open();
}

/** Shows the survey from its beginning, or that this browser has an answer to it. */
function open() {
  const answer = answerTo(state.sheet);
  const exists = answer.exists(); // fails where nothing can be remembered
  if (!begin()) return;
  if (state.invited && inAddress("ticket") === null && !answer.wasSent()) return refuse(state.words.noTicket);
  if (exists) return gate(answer);
  if (!state.drafts.size) memory.probe(state.sheet);
  if (state.sheet.panel) attempt(takePart);
  else fillForm();
}

/** In a panel: the form, if this browser is asked today or takes part in nothing beyond the limits; else when it is. */
async function takePart() {
  state.sheet.joined = withinLimits(state.sheet, state.words)
    ? await alone(() => join(state.sheet.id, state.device, inAddress("ticket")))
    : null;
  if (["now", "earlier", undefined].includes(state.sheet.joined?.due)) return fillForm();
  show(null);
  say($("status"), whenAsked(state.sheet.joined, state.words));
}

/** In a panel, when nothing is sent: prepares the answer about a change, and says when this browser is asked. */
async function notNow(record) {
  const text = await keptForLater(state.sheet, state.device, inAddress("ticket"), record, state.words);
  forgetDrafts();
  show(null);
  say($("status"), text, "good");
}

/** Shows what the organiser says, and the limits; refuses a plan that is not the one of the invitation. */
function begin() {
  $("way").hidden = true;
  state.sheet.spoken = inOurWords(state.sheet.features);
  offerDates(state.sheet.spoken);
  state.sheet.spokenOpen = inOurWords(state.sheet.open);
  showAbout(state.sheet.survey, state.words);
  showLimits(state.sheet, state.words, judge);
  const expected = inAddress("plan");
  if (expected === null || expected.replace(/\s/g, "").toLowerCase() === state.sheet.id) return true;
  refuse(state.words.otherPlan);
  return false;
}

/** The features with the organiser's words in the page's language. */
const inOurWords = (features) =>
  new Map(
    [...features].map(([name, feature]) => {
      const label = spoken(feature.label, feature.labels, state.words.code);
      const help = spoken(feature.help, feature.helps, state.words.code);
      return [name, { ...feature, label, help, valueWords: spoken(null, feature.valueLabels, state.words.code) }];
    }),
  );

/** Another visit: an answer was drawn in this browser, by the person who reads now or by somebody else. */
function gate(answer) {
  forgetDrafts();
  const sent = answer.wasSent();
  $("send").disabled = false;
  show("gate");
  say($("status"), sent ? state.words.keptSent : state.words.keptUnsent);
  $("mine").hidden = sent;
  $("mine").onclick = () => attempt(() => alone(() => showKept(answer)));
  $("another").onclick = () =>
    attempt(async () => {
      await alone(() => answer.forget());
      Object.assign(state, { ready: null, ended: null });
      state.sheet.release = null;
      open();
    });
}

/** Shows the report that is kept now; another tab may have sent it meanwhile. */
async function showKept(answer) {
  const kept = answer.kept();
  if (kept === null) return open();
  const report = await state.device.ask("read", { kept });
  state.sheet.release = await state.device.ask("release", { report });
  ledger.add(state.sheet.release);
  await preview({ kept, report }, open);
}

/** Draws the report, unless this browser has drawn one: whatever other tabs did meanwhile, there is never a second. */
async function makeAnswer() {
  const record = Object.fromEntries(state.form.read().map(({ name, given }) => [name, given]));
  const answer = answerTo(state.sheet);
  $("show").disabled = true;
  await alone(async () => {
    if (answer.exists()) return answer.wasSent() ? open() : showKept(answer);
    if (!obeyed()) return; // another tab may have spent what was left
    if (state.sheet.panel && !(await isAskedNow(state.sheet, state.device, inAddress("ticket")))) return notNow(record);
    const report = await state.device.ask("draw", {
      record,
      ticket: inAddress("ticket"),
      part: state.sheet.joined?.part,
    });
    const release = await state.device.ask("release", { report });
    if (answer.exists()) return open(); // where there are no locks
    const kept = JSON.stringify(report);
    answer.keep(kept, release);
    state.sheet.release = release;
    await preview({ kept, report }, open);
  }).finally(() => ($("show").disabled = false));
  if (state.part === "preview") $("preview-title").focus({ preventScroll: true });
}

start().catch(stop);
