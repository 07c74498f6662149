/** The way through the form: the first screen, its sections one by one, the review, and back. */

import { element } from "../page.js";
import { verified } from "./chances.js";
import { formOf } from "./form.js";
import { showSteps } from "./intro.js";
import { draftOf, withoutFail } from "./memory.js";
import { $, INTRO, isBefore, judge, obeyed, promiseTable, reasonOf, show, state, warnBeforeLeaving } from "./state.js";

/** What the person wanted to be kept of what was entered. */
export function recall() {
  const kept = draftOf(state.sheet).kept();
  $("keep").checked = kept !== null;
  if (kept) Object.assign(state, { drafts: new Map(kept.drafts), reached: kept.reached });
}

/** Keeps what is entered, if the person wants that and the browser lets it. */
function keepDrafts() {
  if (!$("keep").checked) return;
  try {
    draftOf(state.sheet).keep({ drafts: [...state.drafts], reached: state.reached });
  } catch (failure) {
    $("keep").checked = false;
    $("keep-note").textContent = state.words.notKept(reasonOf(failure));
  }
}

/** What was entered is not needed any more, and nowhere from here on. */
export function forgetDrafts() {
  Object.assign(state, { drafts: new Map(), form: null, place: INTRO, reached: INTRO });
  $("keep").checked = false;
  withoutFail(() => draftOf(state.sheet).forget());
}

/** What can be done before an answer is drawn. */
export function listen() {
  $("start").onclick = () => obeyed() && goTo(state.drafts.size ? firstOpen(0) : following(INTRO));
  $("back").onclick = () => history.back();
  $("keep").onchange = () => {
    if (!$("keep").checked) draftOf(state.sheet).forget();
    keepDrafts();
    warnBeforeLeaving();
  };
  $("form").oninput = () => {
    state.form.update();
    if ($("look").textContent) tellMistakes();
    keepDrafts();
    warnBeforeLeaving();
  };
  $("form").onsubmit = (event) => {
    event.preventDefault();
    next();
  };
  addEventListener("popstate", ({ state: entry }) => {
    const moved = state.address === location.hash;
    state.address = location.hash;
    if (moved && isBefore()) visit(allowed(entry?.place));
  });
}

/** The form in the page's language, where the person is in it. */
export function fillForm() {
  state.form = formOf([...state.sheet.spokenOpen, ...state.sheet.spoken], state.notAsked, state.drafts, state.words);
  const place = allowed(history.state?.place);
  history.replaceState({ place }, "");
  visit(place);
}

/** A place in the form, if it was reached; else the beginning, where nothing of it is skipped. */
function allowed(place = INTRO) {
  if (place > state.reached || place > state.form.length) return INTRO;
  return place < 0 || place === state.form.length || state.form.isAsked(place) ? place : following(place);
}

/** Goes on; the browser's way back then leads through the form. */
function goTo(place) {
  history.pushState({ place }, "");
  visit(place);
  scrollTo(0, 0);
}

/** Shows a place of the form. */
function visit(place) {
  Object.assign(state, { place, reached: Math.max(place, state.reached) });
  keepDrafts();
  if (place === INTRO) return intro();
  $("status").hidden = true;
  return place === state.form.length ? review() : section();
}

/** What the survey is about and what it promises, before the first question. */
function intro() {
  const asked = [...state.sheet.features.values(), ...state.sheet.open.values()].filter(({ askedIf }) => !askedIf);
  showSteps(state.sheet, asked.length, state.words);
  $("verified").textContent = verified(state.sheet.promises, state.words, state.sheet.spoken);
  $("promise").replaceChildren($("promise").querySelector("summary"), ...promiseTable());
  $("start").textContent = state.drafts.size ? state.words.goOn : state.words.start;
  show("intro");
  judge();
}

/** The numbers of all sections. */
const sections = () => Array.from({ length: state.form.length }, (_, number) => number);
/** The next section in which anything is asked; else the review. */
const following = (place) =>
  sections().find((number) => number > place && state.form.isAsked(number)) ?? state.form.length;
/** The first section from a place on with an answer that is missing or needs another look; else the review. */
const firstOpen = (place) =>
  sections().find((number) => number >= place && !state.form.isComplete(number)) ?? state.form.length;

/** One section. Follow-ups appear when they are asked, and nothing else of the page tells whether they are. */
function section() {
  $("questions").replaceChildren(...state.form.nodes(state.place));
  const asked = sections().filter(state.form.isAsked);
  const number = asked.indexOf(state.place) + 1;
  $("progress-title").textContent = state.words.progress(state.words.number(number), state.words.number(asked.length));
  Object.assign($("progress"), { max: asked.length, value: number });
  $("next").textContent =
    state.reached === state.form.length || number === asked.length ? state.words.review : state.words.next;
  $("look").textContent = "";
  show("form");
  $("progress-title").focus({ preventScroll: true });
}

/** To the next section, or to the review once it was reached: nobody walks through the form again for one change. */
function next() {
  const wrong = state.form.asked(state.place).map((field) => field.read());
  if (tellMistakes()) return wrong.find(({ mistake }) => mistake).target.focus();
  const place = state.reached === state.form.length ? state.form.length : following(state.place);
  goTo(place === state.form.length ? firstOpen(0) : place);
}

/** Says how many fields show a mistake, and gives their number. */
function tellMistakes() {
  const fields = state.form.asked(state.place);
  const wrong = fields.filter((field) => field.isWrong()).length;
  const text = ["", state.words.lookOne][wrong] ?? state.words.lookMany(state.words.number(wrong));
  $("look").textContent = fields.length > 1 ? text : ""; // a single question says it itself
  return wrong;
}

/** Everything as it was read, to be looked at before it becomes an answer for ever. */
function review() {
  const rows = state.form.read().flatMap(({ name, label, told }) => {
    const named = { type: "button", class: "plain", "aria-label": `${state.words.change}: ${label}` };
    const button = element("button", named, state.words.change);
    button.onclick = () => goTo(state.form.sectionOf(name));
    return [element("dt", {}, element("bdi", {}, label), button), element("dd", { dir: "auto" }, told)];
  });
  $("entered").replaceChildren(...rows);
  show("review");
  $("review-title").focus({ preventScroll: true });
}
