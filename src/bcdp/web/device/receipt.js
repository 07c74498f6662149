/** The collector's word that it has a report. */

import { InputError } from "./checks.js";

/**
 * How many reports of a message were new and how many were there before, `{ accepted, duplicate }`, from the text that the
 * collector answers with. A status of 200 alone is no receipt: networks that ask people to sign in answer with it too.
 * @type {(text: string, reports?: number) => { accepted: number, duplicate: number }}
 */
export function readReceipt(text, reports = 1) {
  const { accepted, duplicate } = read(text);
  const counted = [accepted, duplicate].every((count) => Number.isInteger(count) && count >= 0);
  if (!counted || accepted + duplicate !== reports) {
    throw new InputError("answer: got no receipt; accepted: the collector's counts, accepted and duplicate");
  }
  return { accepted, duplicate };
}

/**
 * Checks a mixing relay's word that it keeps the message until it delivers it, `{ kept: 1 }`.
 * @type {(text: string) => void}
 */
export function checkKept(text) {
  if (read(text).kept !== 1) {
    throw new InputError("answer: got no acknowledgement; accepted: the relay's word, kept: 1");
  }
}

/** @type {(text: string) => any} */
function read(text) {
  try {
    return JSON.parse(text) ?? {};
  } catch {
    return {};
  }
}
