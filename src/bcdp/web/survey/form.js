/** The form: its questions in sections, of which the page shows one at a time, and what is entered in all of them. */

import { fieldOf } from "./fields.js";
import { inGrids, scaleOf } from "./grids.js";

/** @typedef {import("./fields.js").Feature & { askedIf?: Record<string, unknown> | null }} Feature */
/** @typedef {import("./fields.js").Field} Field */
/** @typedef {import("./fields.js").Answered} Answered */
/** @typedef {import("../words/choose.js").Spoken} Spoken */
/** @typedef {readonly (readonly [string, Feature])[]} Asked */
/**
 * @typedef {object} Form
 * @property {number} length how many sections there are
 * @property {(number: number) => HTMLElement[]} nodes what a section shows
 * @property {(number: number) => boolean} isAsked whether a section has a question that is asked
 * @property {(number: number) => boolean} isComplete whether nothing in a section needs another look
 * @property {(number: number) => Field[]} asked the fields of a section that are asked
 * @property {(name: string) => number} sectionOf
 * @property {() => Answered[]} read what is entered in all that is asked
 * @property {() => void} update shows the follow-ups that are asked, and notes what is entered
 */

/**
 * The questions of one screen: those of one scale that follow each other, and follow-ups with what they depend on.
 * @type {(asked: Asked) => string[][]}
 */
export function sectionsOf(asked) {
  /** @type {string[][]} */
  const sections = [];
  asked.forEach(([name, feature], index) => {
    const [last, before] = [sections.at(-1), asked[index - 1]?.[1]];
    const scale = scaleOf(feature);
    const parents = Object.keys(feature.askedIf ?? {});
    const joins =
      last && ((scale !== null && scale === scaleOf(before)) || parents.some((each) => last.includes(each)));
    if (joins) last.push(name);
    else sections.push([name]);
  });
  return sections;
}

/**
 * A form; `drafts` has what was entered, by the names of questions, and is kept up to date. A field is built when it is
 * needed first: a survey of many questions is there at once.
 * @type {(asked: Asked, notAsked: (entered: Map<string, unknown>) => Set<string>, drafts: Map<string, unknown>,
 *   words: Spoken) => Form}
 */
export function formOf(asked, notAsked, drafts, words) {
  const sections = sectionsOf(asked);
  const features = new Map(asked);
  const numbers = new Map(asked.map(([name], index) => [name, index]));
  /** @type {Map<string, Field>} */
  const fields = new Map();
  /** @type {(name: string) => Field} */
  const field = (name) => {
    let known = fields.get(name);
    if (!known) {
      const feature = /** @type {Feature} */ (features.get(name));
      known = fieldOf(name, feature, `feature-${numbers.get(name)}`, words, drafts.get(name));
      fields.set(name, known);
    }
    return known;
  };
  /** @type {(name: string) => unknown} */
  const given = (name) => (fields.has(name) || drafts.has(name) ? field(name).given() : null);
  /** @type {Set<string>} */
  let hidden;
  const update = () => {
    for (const [name, { draft }] of fields) {
      const entered = draft();
      if (entered === null) drafts.delete(name);
      else drafts.set(name, entered);
    }
    hidden = notAsked(new Map(asked.map(([name]) => [name, given(name)])));
    for (const [name, { node }] of fields) node.hidden = hidden.has(name);
  };
  update();
  /** @type {(number: number) => string[]} */
  const askedNames = (number) => sections[number].filter((name) => !hidden.has(name));
  return {
    length: sections.length,
    nodes(number) {
      const nodes = sections[number].map((name) => field(name).node);
      update();
      return inGrids(
        sections[number].map((name) => /** @type {Feature} */ (features.get(name))),
        nodes,
      );
    },
    isAsked: (number) => askedNames(number).length > 0,
    isComplete: (number) => askedNames(number).every((name) => field(name).isComplete()),
    asked: (number) => askedNames(number).map(field),
    sectionOf: (name) => sections.findIndex((names) => names.includes(name)),
    read: () => sections.flatMap((_, number) => askedNames(number).map((name) => field(name).read())),
    update,
  };
}
