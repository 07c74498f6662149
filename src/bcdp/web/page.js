/** What both pages share: elements without inline code or style, and numbers to read. */

import { words as english } from "./words/en.js";

/** @typedef {import("./words/en.js").PageWords} PageWords */
/** @typedef {Readonly<Record<string, string | number>>} Attributes */
/** @typedef {Node | string} Content */
/** @typedef {{ label: string, told: string, condition: string, left: string }} Told a promise in words */

/**
 * A new element: attributes by name, children that are elements or text.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {Attributes} [attributes]
 * @param {...Content} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function element(tag, attributes = {}, ...children) {
  return filled(document.createElement(tag), attributes, children);
}

/**
 * A new part of a picture.
 * @template {keyof SVGElementTagNameMap} K
 * @param {K} tag
 * @param {Attributes} [attributes]
 * @param {...Content} children
 * @returns {SVGElementTagNameMap[K]}
 */
export function drawn(tag, attributes = {}, ...children) {
  return filled(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

/**
 * @template {Element} E
 * @param {E} node
 * @param {Attributes} attributes
 * @param {readonly Content[]} children
 * @returns {E}
 */
function filled(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, /** @type {string} */ (value));
  node.append(...children);
  return node;
}

/**
 * A table with a caption and a header; a cell is text or an element, the first of each row is its header.
 * @type {(caption: string, header: readonly string[], rows: readonly Content[][]) => HTMLTableElement}
 */
export function table(caption, header, rows) {
  /** @type {(content: Content, index: number, label: string) => HTMLElement} */
  const cell = (content, index, label) =>
    index === 0
      ? element("th", { scope: "row" }, element("bdi", {}, content)) // a label may be in another script than the page
      : element("td", { "data-label": label }, content);
  /** @type {(text: string) => HTMLElement} */
  const head = (text) => (text ? element("th", { scope: "col" }, text) : element("td")); // an empty one heads nothing
  return element(
    "table",
    {},
    element("caption", {}, caption),
    element("thead", {}, element("tr", {}, ...header.map(head))),
    element("tbody", {}, ...rows.map((row) => element("tr", {}, ...row.map((c, i) => cell(c, i, header[i]))))),
  );
}

/**
 * Every promise with its condition and what is left without it; below, what that means and what the operator says.
 * @type {(promises: readonly Told[], said: string, words?: PageWords) => HTMLElement[]}
 */
export function promised(promises, said, words = english) {
  const rows = promises.map(({ label, told, condition, left }) => [label, told, condition, left]);
  const node = table(words.promiseCaption, words.promiseHeads, rows);
  node.className = "stacked promises";
  return [node, ...[words.meaning, `${said}.`].map((note) => element("p", { class: "small" }, note))];
}

/**
 * The main promise about a batch, whom one trusts for it, and the words before what is left without it.
 * @type {(told: import("./device/wording/tell_batch.js").ToldBatch, words?: PageWords) => HTMLElement[]}
 */
export function promisedBatch({ caption, rows, notes, fallback }, words = english) {
  const node = table(caption, words.promiseHeads.slice(0, 3), rows);
  node.className = "stacked promises";
  return [node, ...notes.map((note) => element("p", {}, note)), element("p", { class: "fallback" }, fallback)];
}

/**
 * Shows a note of a kind: plain, good or bad.
 * @type {(node: HTMLElement, text: string, kind?: string) => void}
 */
export function say(node, text, kind = "plain") {
  node.textContent = text;
  node.className = `note ${kind}`;
  node.hidden = false;
}

/**
 * A number to read beside its standard error: as many decimals as show two digits of the error.
 * @type {(value: number | null, error: number) => string}
 */
export function measured(value, error) {
  if (value === null || !Number.isFinite(value) || !(error > 0) || !Number.isFinite(error)) return number(value);
  const digits = Math.min(100, Math.max(0, 1 - Math.floor(Math.log10(error))));
  return value.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

/**
 * A number to read: four significant digits, whole above ten thousand, a dash where there is none.
 * @type {(value: number | null) => string}
 */
export function number(value) {
  if (value === null || !Number.isFinite(value)) return "–";
  const digits = Math.abs(value) >= 10_000 ? { maximumFractionDigits: 0 } : { maximumSignificantDigits: 4 };
  return value.toLocaleString("en", digits);
}
