/** The first screen: who asks what, what happens in three steps, and what the device has checked. */

import { element } from "../page.js";
import { spoken } from "../words/choose.js";

/** @typedef {import("../words/choose.js").Spoken} Spoken */

/** @type {(id: string) => HTMLElement} */
const $ = (id) => /** @type {HTMLElement} */ (document.getElementById(id));

/**
 * The survey's title and organiser, which head every screen; the rest of what the organiser says is apart from what the
 * device computed.
 * @type {(survey: Record<string, any> | null, words: Spoken) => void}
 */
export function showAbout(survey, words) {
  const title = survey ? spoken(survey.title, survey.titles, words.code) : words.title;
  document.title = title;
  $("title").textContent = title;
  $("organiser").textContent = survey?.organiser ?? "";
  $("about").hidden = survey === null;
  if (survey === null) return;
  const facts = [
    [words.purpose, spoken(survey.purpose, survey.purposes, words.code)],
    [words.organiser, survey.organiser],
    [words.contact, survey.contact],
    [words.decline, spoken(survey.decline ?? null, survey.declines, words.code)],
  ];
  $("survey-facts").replaceChildren(
    ...facts
      .filter(([, text]) => text)
      .flatMap(([name, text]) => [element("dt", { dir: "auto" }, name), element("dd", { dir: "auto" }, text)]),
  );
}

/**
 * How long it takes, and the three steps.
 * @type {(sheet: { survey: Record<string, any> | null, open: ReadonlyMap<string, unknown>, separate: boolean },
 *   questions: number, words: Spoken) => void}
 */
export function showSteps({ survey, open, separate }, questions, words) {
  const long = survey?.minutes ? `, ${words.minutes(words.number(survey.minutes))}` : "";
  $("length").textContent = `${words.questions(words.number(questions))}${long}. ${words.mayDecline}`;
  const steps = [
    [words.stepEnter, open.size ? words.stepEnterOpen : words.stepEnterNote],
    [words.stepDice, separate ? words.stepDiceSeparate : words.stepDiceNote],
    [words.stepSend, words.stepSendNote],
  ];
  const entries = steps.map(([head, note]) => element("li", {}, element("strong", {}, head), ` ${note}`));
  $("steps").replaceChildren(...entries);
}
