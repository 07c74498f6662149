/** What the organiser tells people, perhaps in several languages: checked for its form, and nobody's promise. */

import { entries, keys, list, refuse, text, whole } from "./checks.js";

const LONGEST_TEXT = 2000;
const MOST_MINUTES = 600;
const TEXTS = ["title", "purpose", "organiser", "contact"];
const TRANSLATIONS = ["titles", "purposes", "declines"];
const UNSHOWN = /[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069]/; // could hide a word or turn it round

/** What the organiser says of the survey, or null. */
export function readSurvey(path, survey) {
  if (survey === null) return null;
  keys(path, survey, TEXTS, ["minutes", "decline", ...TRANSLATIONS]);
  const { minutes = null, decline = null } = survey;
  for (const key of TEXTS) shown(`${path}.${key}`, survey[key]);
  if (minutes !== null) whole(`${path}.minutes`, minutes, 1, MOST_MINUTES);
  if (decline !== null) shown(`${path}.decline`, decline);
  for (const key of TRANSLATIONS) readTranslations(`${path}.${key}`, survey[key] ?? null);
  return survey;
}

/** A text in each of some languages, or null. */
export function readTranslations(path, texts) {
  if (texts !== null) for (const [language, text] of languages(path, texts)) shown(`${path}.${language}`, text);
  return texts;
}

/** In each of some languages a text for each of so many values, or null. */
export function readValueLabels(path, labels, size) {
  if (labels === null) return null;
  for (const [language, words] of languages(path, labels)) {
    list(`${path}.${language}`, words).forEach((word) => shown(`${path}.${language}`, word));
    if (words.length !== size || new Set(words).size !== size) {
      throw refuse(`${path}.${language}`, words, `${size} different texts, one for each value`);
    }
  }
  return labels;
}

function languages(path, document) {
  const found = entries(path, document);
  if (!found.length || !found.every(([code]) => /^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$/.test(code))) {
    throw refuse(path, Object.keys(document), "the codes of languages, such as de or pt-BR");
  }
  return found;
}

function shown(path, value) {
  if (Array.from(text(path, value, 1)).length > LONGEST_TEXT || UNSHOWN.test(value)) {
    throw refuse(path, value, `text of 1 to ${LONGEST_TEXT} letters, none of them invisible`);
  }
}
