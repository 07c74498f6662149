/** What a hint can reveal, in guesses of 100: one sentence, and a picture. Every number is one that the device computed. */

import { quoted } from "../device/wording/tell.js";
import { drawn, element } from "../page.js";

/** @typedef {import("../device/wording/tell.js").Promised} Promised */
/** @typedef {import("../words/choose.js").Spoken} Spoken */
/** @typedef {ReadonlyMap<string, { label: string }>} Labelled */
/** @typedef {{ held: number, broken: number }} Chances of 100 guesses at even chances: right at most, and right at most if the condition fails */

const [EVEN, GUESSES, PER_ROW, STEP] = [50, 100, 20, 10];

/**
 * How many of 100 guesses are right at most: percentages rounded up once more.
 * @type {(promised: Promised) => Chances}
 */
export function chancesOf({ becomes, condition, nothingBecomes }) {
  const held = Math.ceil(becomes);
  return { held, broken: condition === null ? held : Math.max(held, Math.ceil(nothingBecomes)) };
}

/**
 * The promises about single answers, the strictest first: it is the most sensitive answer by the organiser's own demands.
 * @type {(promises: readonly Promised[]) => Promised[]}
 */
export const strictestFirst = (promises) =>
  promises.filter(({ name }) => name !== null).sort((a, b) => a.becomes - b.becomes || a.nothing - b.nothing);

/** @type {(promises: readonly Promised[]) => Promised} */
const aboutAll = (promises) => /** @type {Promised} */ (promises.find(({ name }) => name === null));

/** @type {(promised: Promised, labels: Labelled) => string} */
const labelOf = ({ name }, labels) => labels.get(/** @type {string} */ (name))?.label ?? "";

/**
 * What the device computed, for the most sensitive answer and for all together, in words.
 * @type {(promises: readonly Promised[], words: Spoken, labels: Labelled) => string}
 */
export function verified(promises, words, labels) {
  const [first] = strictestFirst(promises);
  const label = quoted(labelOf(first, labels));
  const [held, broken] = [chancesOf(first).held, chancesOf(first).broken].map(words.number);
  const about = first.condition === null ? words.verifiedAlways(label, held) : words.verified(label, held, broken);
  return `${about} ${words.verifiedAll(words.number(chancesOf(aboutAll(promises)).held))}`;
}

/**
 * The picture of 100 guesses about the most sensitive answer, and a bar for each other one and for all together.
 * @type {(promises: readonly Promised[], words: Spoken, labels: Labelled) => Element[]}
 */
export function pictured(promises, words, labels) {
  const [first, ...others] = strictestFirst(promises);
  const { held, broken } = chancesOf(first);
  /** @type {[string, string][]} */
  const legend = [
    ["before", words.chanceBefore(words.number(EVEN))],
    ["held", words.chanceHeld(words.number(held - EVEN))],
    ...(broken > held
      ? [/** @type {[string, string]} */ (["broken", words.chanceBroken(words.number(broken - held))])]
      : []),
  ];
  const entries = legend.map(([kind, text]) => element("li", {}, dots([kind], 1), text));
  const rows = [...others, aboutAll(promises)].map((promised) => barOf(promised, words, labels));
  return [
    element("h3", {}, words.guess(quoted(labelOf(first, labels)))),
    element("p", { class: "small" }, words.ofHundred),
    dots(
      Array.from({ length: GUESSES }, (_, guess) => kindOf(guess, held, broken)),
      PER_ROW,
    ),
    element("ul", { class: "legend small" }, ...entries),
    element("h3", {}, words.otherAnswers),
    element("ul", { class: "bars" }, ...rows),
    element("p", { class: "small" }, words.otherAnswersNote),
  ];
}

/** @type {(guess: number, held: number, broken: number) => string} */
function kindOf(guess, held, broken) {
  if (guess < EVEN) return "before";
  if (guess < held) return "held";
  return guess < broken ? "broken" : "wrong";
}

/** @type {(kinds: readonly string[], columns: number) => SVGElement} */
function dots(kinds, columns) {
  const rows = Math.ceil(kinds.length / columns);
  const circles = kinds.map((kind, index) => {
    const [column, row] = [index % columns, Math.floor(index / columns)];
    return drawn("circle", { class: kind, cx: (column + 0.5) * STEP, cy: (row + 0.5) * STEP, r: 3.5 });
  });
  const viewBox = `0 0 ${columns * STEP} ${rows * STEP}`;
  return drawn("svg", { class: "dots", viewBox, "aria-hidden": "true" }, ...circles);
}

/** @type {(promised: Promised, words: Spoken, labels: Labelled) => HTMLElement} */
function barOf(promised, words, labels) {
  const { held, broken } = chancesOf(promised);
  const text = promised.name === null ? words.all : labelOf(promised, labels);
  /** @type {(kind: string, from: number, to: number, y: number, height: number) => SVGElement} */
  const part = (kind, from, to, y, height) =>
    drawn("rect", { class: kind, x: from, y, width: Math.max(0, to - from), height });
  const bar = drawn(
    "svg",
    { viewBox: `0 0 ${GUESSES} ${STEP}`, preserveAspectRatio: "none", "aria-hidden": "true" },
    part("wrong", 0, GUESSES, 0, STEP),
    part("before", 0, EVEN, 0, STEP),
    part("held", EVEN, held, 0, STEP),
    part("broken", held, broken, STEP / 3, STEP / 3),
  );
  const numbers = [held, broken].map(words.number);
  const said = broken > held ? `${numbers[0]} (${numbers[1]})` : numbers[0];
  return element("li", {}, element("bdi", {}, text), bar, element("strong", {}, said));
}
