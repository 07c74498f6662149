/** Which language the page speaks: the one that was chosen, else the first of the browser's that there is. */

import { words as en } from "./en.js";

const LOADED = {
  de: () => import("./de.js"),
  fr: () => import("./fr.js"),
  es: () => import("./es.js"),
  ar: () => import("./ar.js"),
};
export const LANGUAGES = { en: "English", de: "Deutsch", fr: "Français", es: "Español", ar: "العربية" };

/** The code of the language to speak; `chosen` may be anything. */
export function languageOf(chosen, preferred) {
  const codes = [chosen, ...preferred].map((code) => String(code).toLowerCase().split("-")[0]);
  return codes.find((code) => Object.hasOwn(LANGUAGES, code)) ?? "en";
}

/** The words of a language; English ones where they cannot be loaded. */
export async function wordsOf(language) {
  const found = await LOADED[language]?.().catch(() => null);
  return found ? { code: language, ...found.words } : { code: "en", ...en };
}

/** What somebody wrote in several languages, in the one that is spoken: `text` unless there is a translation. */
export function spoken(text, translations, language) {
  const codes = Object.keys(translations ?? {});
  const code = codes.find((one) => one === language) ?? codes.find((one) => one.split("-")[0] === language);
  return code === undefined ? text : translations[code];
}
