/** What the organiser tells people, perhaps in several languages: checked for its form, and nobody's promise. */

import { keys, readTranslations, shown, whole } from "../checks.js";

const MOST_MINUTES = 600;
const TEXTS = ["title", "purpose", "organiser", "contact"];
const TRANSLATIONS = ["titles", "purposes", "declines"];

/**
 * What the organiser says of the survey.
 * @type {(path: string, survey: any) => Record<string, any>}
 */
export function readSurvey(path, survey) {
  keys(path, survey, TEXTS, ["minutes", "decline", ...TRANSLATIONS]);
  const { minutes = null, decline = null } = survey;
  for (const key of TEXTS) shown(`${path}.${key}`, survey[key]);
  if (minutes !== null) whole(`${path}.minutes`, minutes, 1, MOST_MINUTES);
  if (decline !== null) shown(`${path}.decline`, decline);
  for (const key of TRANSLATIONS) readTranslations(`${path}.${key}`, survey[key] ?? null);
  return survey;
}
