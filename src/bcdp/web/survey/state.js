/** The state of the survey page, from which all that it shows follows, and which part of it is shown. */

import { quoted, tellPromise } from "../device/wording/tell.js";
import { tellBatch } from "../device/wording/tell_batch.js";
import { promised, promisedBatch, say } from "../page.js";
import { Failure } from "./device.js";
import { becomes, kindFor, withinLimits } from "./limits.js";

const PARTS = ["gate", "intro", "form", "review", "preview", "thanks"];
const BEFORE = ["intro", "form", "review"]; // an answer is drawn
const ACTIONS = { intro: ["start"], form: ["next"], review: ["show"], preview: ["whatever", "send"] }; // of each part
export const INTRO = -1; // as a place; sections of the form have their numbers, and the review comes after the last

export const $ = (id) => document.getElementById(id);

export const state = {
  words: null, // of the language that is spoken
  device: null,
  sender: null, // how messages are sent
  sheet: null, // what the page knows of the plan; its `release` is what the report that was drawn costs
  invited: false, // whether the collection is by invitation
  notAsked: null, // the questions that are not asked, given what is entered
  part: null, // of the page
  place: INTRO,
  reached: INTRO, // the furthest place so far
  drafts: new Map(), // what is entered, by question: in this page's memory, and elsewhere only if the person wants that
  form: null, // the fields in this language, which read and write the drafts
  ready: null, // the report that was drawn, and the text that is kept of it
  ended: null, // how it was sent, as a key of the words
  address: location.hash,
};

/** Whether nothing is drawn yet: what is entered can be changed. */
export const isBefore = () => BEFORE.includes(state.part);

/** What a link says after `#`, which browsers do not send: the `ticket` of an invitation, the id of its `plan`. */
export const inAddress = (key) => new URLSearchParams(location.hash.slice(1)).get(key);

/** Shows a part of the page, and what may be done there. */
export function show(part) {
  state.part = part;
  if (part !== "form") $("questions").replaceChildren(); // what was entered is nowhere in the page that somebody else sees
  if (part !== "review") $("entered").replaceChildren();
  document.body.dataset.part = part ?? "";
  for (const id of PARTS) $(id).hidden = id !== part;
  for (const [owner, ids] of Object.entries(ACTIONS)) for (const id of ids) $(id).hidden = owner !== part;
  $("foot").hidden = !(part in ACTIONS);
  $("back").hidden = !["form", "review"].includes(part);
  $("limits").hidden = !["intro", "review", "preview"].includes(part);
  $("keeping").hidden = !["form", "review"].includes(part) && !(part === "intro" && $("keep").checked);
  warnBeforeLeaving();
}

/** Asks before the page is left or loaded again while something is entered that is in this page alone. */
export function warnBeforeLeaving() {
  const entered = isBefore() && state.drafts.size > 0 && !$("keep").checked;
  window.onbeforeunload = entered ? (event) => event.preventDefault() : null;
}

/** Shows nothing but why the device does not answer. */
export function refuse(text) {
  show(null);
  say($("status"), text, "bad");
}

/** Every promise with its condition, that about a batch first. */
export function promiseTable() {
  const open = [...state.sheet.spokenOpen.values()].map(({ label }) => label);
  const rows = state.sheet.promises.map((told) =>
    tellPromise(told, state.words, state.sheet.spoken.get(told.name)?.label, open),
  );
  const each = promised(rows, state.words.operatorSays(quoted(state.sheet.source)), state.words);
  if (state.sheet.batch === null) return each;
  const collector = state.sheet.survey?.organiser ?? location.host;
  const relay = state.sheet.relay === null ? "" : new URL(state.sheet.relay.url).host;
  return [
    ...promisedBatch(
      tellBatch(state.sheet.batch, state.words, state.sheet.spoken, open, { collector, relay }),
      state.words,
    ),
    ...each,
  ];
}

/** Says what the device computed: green only where little could be given away, and that it answers nothing beyond limits. */
export function judge() {
  const fits = withinLimits(state.sheet, state.words);
  $("checked").className = `note ${fits ? kindFor(state.sheet) : "plain"}`;
  if (!fits) say($("status"), state.words.refused(state.words.percent(becomes(state.sheet), 1)), "bad");
  else if (state.part === "preview") say($("status"), state.words.ready);
  else $("status").hidden = true;
}

/** Whether the survey is within the person's limits; else leads there. */
export function obeyed() {
  const kept = withinLimits(state.sheet, state.words);
  judge();
  if (!kept) $("limit-epsilon").focus();
  return kept;
}

/** A failure in the page's words. */
export function reasonOf(failure) {
  if (!(failure instanceof Failure)) return failure.message;
  const word = state.words[failure.key];
  return typeof word === "function" ? word(...failure.detail) : word;
}

/** Runs an action; if it fails, says why. */
export async function attempt(action) {
  try {
    await action();
  } catch (failure) {
    stop(failure);
  }
}

/** Says why the device does not answer. What was entered stays where it can be seen, and tried again. */
export function stop(failure) {
  const text = state.words.notAnswered(reasonOf(failure));
  if (state.part === "review") say($("status"), text, "bad");
  else refuse(text);
  $("way").hidden = false;
  window.bcdpStarted = true;
}
