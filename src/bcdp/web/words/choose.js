/** Which language the page speaks: the one that was chosen, else the first of the browser's that there is. */

import { words as en } from "./en.js";

/** @typedef {import("./en.js").PageWords} PageWords */
/** @typedef {PageWords & { code: string }} Spoken the words of a language, and its code */

/** @type {Record<string, () => Promise<{ words: PageWords }>>} */
const LOADED = {
  de: () => import("./de.js"),
  fr: () => import("./fr.js"),
  es: () => import("./es.js"),
  ar: () => import("./ar.js"),
};
/** @type {Record<string, string>} */
export const LANGUAGES = { en: "English", de: "Deutsch", fr: "Français", es: "Español", ar: "العربية" };

/**
 * The code of the language to speak; `chosen` may be anything.
 * @type {(chosen: unknown, preferred: readonly string[]) => string}
 */
export function languageOf(chosen, preferred) {
  const codes = [chosen, ...preferred].map((code) => String(code).toLowerCase().split("-")[0]);
  return codes.find((code) => Object.hasOwn(LANGUAGES, code)) ?? "en";
}

/** Loads the words of every language, so that no request tells when somebody chooses one. */
export const loadLanguages = () => Promise.allSettled(Object.values(LOADED).map((load) => load()));

/**
 * The words of a language; English ones where they cannot be loaded.
 * @type {(language: string) => Promise<Spoken>}
 */
export async function wordsOf(language) {
  const found = await LOADED[language]?.().catch(() => null);
  return found ? { code: language, ...found.words } : { code: "en", ...en };
}

/**
 * What somebody wrote in several languages, in the one that is spoken: `text` unless there is a translation.
 * @template T
 * @param {T} text
 * @param {Readonly<Record<string, T>> | null | undefined} translations
 * @param {string} language
 * @returns {T}
 */
export function spoken(text, translations, language) {
  const codes = Object.keys(translations ?? {});
  const code = codes.find((one) => one === language) ?? codes.find((one) => one.split("-")[0] === language);
  return code === undefined ? text : /** @type {Record<string, T>} */ (translations)[code];
}
