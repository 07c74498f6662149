/** The form's fields, from the plan's features: each knows its node, how to read it and how to tell what it read. */

import { isolated, valueWord } from "../device/wording/tell.js";
import { element } from "../page.js";
import { digitsOf, meantBy, readBack } from "./numbers.js";

/** @typedef {import("../words/choose.js").Spoken} Spoken */
/** @typedef {import("../device/reading/features.js").Value} Value */
/** @typedef {import("../device/reading/features.js").Numeric} Numeric */
/** @typedef {import("../device/reading/features.js").Listed & { valueWords?: string[] | null }} Listed */
/** @typedef {(Numeric | Listed) & { control?: (parts: any) => Control }} Feature its `control` may be loaded on demand */
/** @typedef {import("../page.js").Attributes} Attributes */
/** @typedef {{ given?: Value | Value[] | null, told?: string | null, mistake?: string, certain?: boolean }} Found what was read */
/** @typedef {Found & { name: string, label: string, told: string, target: HTMLElement }} Answered */
/** @typedef {{ node: HTMLElement, value: () => Found, target: () => HTMLElement, draft: () => unknown }} Control */
/**
 * @typedef {{ name: string, node: HTMLElement, read: () => Answered, given: () => Value | Value[] | null, isWrong: () => boolean,
 *   isComplete: () => boolean, draft: () => unknown }} Field
 */
/**
 * @template F
 * @typedef {{ feature: F, id: string, hint: HTMLElement, remark: HTMLElement, described: Record<string, string>,
 *   words: Spoken, draft: any }} Parts
 */

const MOST_BUTTONS = 7; // a longer list of values becomes a menu
const MOST_OPTIONS = 30; // and one longer than that can be searched
const MOST_SHOWN = 200; // entries of a long list at a time

/**
 * A field for one feature: its `node`, `read()`, which gives `{ name, label, given, told, mistake, target }`, `draft()`,
 * from which another field of the feature goes on, `isWrong()`, whether it shows a mistake, and `isComplete()`, whether it
 * has none. A mistake is shown when a field is left, in a line that is always there: nothing moves, so that no click is
 * lost. While something is typed a mistake is shown only if more could not mend it.
 * @type {(name: string, feature: Feature, id: string, words: Spoken, draft?: any) => Field}
 */
export function fieldOf(name, feature, id, words, draft = null) {
  const asIs = feature.type === "open" ? words.openField : null;
  const hints = [boundsOf(feature, words), leftOut(feature, words), asIs].filter(Boolean).join(" ");
  const help = feature.help ? [element("bdi", {}, feature.help), " "] : [];
  const hint = element("p", { id: `${id}-hint`, class: "hint" }, ...help, hints);
  const remark = element("p", { id: `${id}-remark`, class: "remark" });
  const described = { "aria-describedby": `${id}-hint ${id}-remark` };
  /** @type {Control} */
  const control = (feature.control ?? /** @type {any} */ (CONTROLS)[controlOf(feature)])({
    feature,
    id,
    hint,
    remark,
    described,
    words,
    draft,
  });
  /** @type {(found: { mistake?: string, told: string | null }) => void} */
  const show = ({ mistake, told }) => {
    remark.textContent = mistake ?? (feature.bounds && told !== null ? words.readAs(told) : "");
    remark.classList.toggle("error", Boolean(mistake));
    for (const input of control.node.querySelectorAll("input:not([type=search]), select")) {
      input.setAttribute("aria-invalid", String(Boolean(mistake)));
    }
  };
  /** @type {() => Answered} */
  const read = () => {
    const found = { told: null, given: null, ...control.value() };
    show(found);
    const told = found.told ?? silence(feature, words);
    return { name, label: feature.label, ...found, told, target: control.target() };
  };
  const isWrong = () => remark.classList.contains("error");
  const look = () => {
    const found = { told: null, ...control.value() };
    show(found.mistake && !found.certain && !isWrong() ? { told: null } : found);
  };
  control.node.addEventListener("input", () => (isWrong() || feature.bounds) && look());
  control.node.addEventListener("change", () => control.draft() !== null && show({ told: null, ...control.value() }));
  if (draft !== null) look();
  const given = () => control.value().given ?? null;
  const isComplete = () => !control.value().mistake;
  return { name, node: control.node, read, given, isWrong, isComplete, draft: control.draft };
}

/** @type {(feature: Feature) => boolean} */
const optional = ({ missing }) => missing !== null;
/**
 * Without a rule for what is missing the device would refuse it.
 * @type {(feature: Feature) => Attributes}
 */
const required = (feature) => (optional(feature) ? /** @type {Attributes} */ ({}) : { required: "" });

/** @type {(feature: Feature, words: Spoken) => string} */
function countedAs(feature, words) {
  const { type, imputed } = /** @type {Feature & { imputed: number }} */ (feature);
  return type === "numeric"
    ? numberWord(/** @type {Numeric} */ (feature), imputed, words)
    : valueWord(/** @type {Listed} */ (feature), imputed, words);
}

/**
 * What no answer is called: a choice like the others where it is a value of its own.
 * @type {(feature: Feature, words: Spoken) => string}
 */
const silence = ({ own }, words) => (own ? words.preferNot : words.noAnswer);

/** @type {(feature: Feature, words: Spoken) => string | null} */
function leftOut(feature, words) {
  if (!optional(feature)) return null;
  return feature.own ? words.ownAnswer : words.countsAs(isolated(countedAs(feature, words)));
}

/** @type {(feature: Feature, words: Spoken) => string | null} */
const boundsOf = (feature, words) =>
  feature.bounds ? words.bounds(...feature.bounds.map((end) => numberWord(feature, end, words))) : null;

/** @type {(feature: Numeric, number: number, words: Spoken) => string} */
const numberWord = ({ dateOf }, number, words) => dateOf?.(number) ?? digitsOf(number, words.locale);

/** @type {(feature: Feature) => string} */
function controlOf({ type, values }) {
  if (type === "numeric") return "number";
  if (type === "multiple") return "ticks";
  return values.length <= MOST_BUTTONS ? "buttons" : values.length <= MOST_OPTIONS ? "menu" : "list";
}

/** @type {(id: string, text: string, ...children: (Node | string)[]) => HTMLElement} */
const labelled = (id, text, ...children) =>
  element("div", { class: "field" }, element("label", { for: id, dir: "auto" }, text), ...children);

/** @type {(feature: Listed, index: number, words: Spoken) => Found} */
function chosen(feature, index, words) {
  if (index >= 0) return { given: feature.values[index], told: valueWord(feature, index, words) };
  return optional(feature) ? {} : { mistake: words.choose };
}

const CONTROLS = {
  /** @type {(parts: Parts<Numeric>) => Control} */
  number({ feature, id, hint, remark, described, words, draft }) {
    const [low, high] = feature.bounds;
    const accepted = words.accepted(digitsOf(low, words.locale), digitsOf(high, words.locale));
    const attributes = { inputmode: "decimal", autocomplete: "off", dir: "auto", ...required(feature), ...described };
    const input = element("input", { id, ...attributes });
    const which = element("div", { class: "choices", role: "group", "aria-labelledby": `${id}-remark` });
    /** @type {(number: number) => boolean} */
    const fits = (number) => number >= low && number <= high;
    /** @type {(number: number) => number} */
    const counted = (number) => Math.min(high, Math.max(low, number)); // as the device does it
    /** @type {{ text: string } | { text: string, number: number }} */
    let meant = draft ?? { text: "" }; // as what number the text was read
    input.value = meant.text;
    /** @type {(numbers: readonly number[]) => void} */
    const offer = (numbers) => {
      /** @type {(number: number) => HTMLElement} */
      const button = (number) => {
        const node = element("button", { type: "button", class: "quiet" }, readBack(number, words.locale));
        node.addEventListener("click", () => {
          meant = { text: input.value.trim(), number };
          input.focus();
          input.dispatchEvent(new Event("input", { bubbles: true }));
        });
        return node;
      };
      which.replaceChildren(...numbers.map(button));
    };
    const value = () => {
      const text = input.value.trim();
      const numbers = text === meant.text && "number" in meant ? [meant.number] : meantBy(text, words, [low, high]);
      const ambiguous = new Set(numbers.map(counted)).size > 1;
      offer(ambiguous ? numbers : []);
      if (!text) return optional(feature) ? {} : { mistake: words.enter(accepted) };
      if (ambiguous) return { mistake: words.ambiguous(isolated(text)), certain: true };
      if (!numbers.length) return { mistake: words.isNot(isolated(text), accepted) };
      const [number] = numbers;
      meant = { text, number };
      const [read, counts] = [number, counted(number)].map((one) => readBack(one, words.locale));
      return { given: counted(number), told: fits(number) ? read : words.clipped(read, counts) };
    };
    const written = () => (input.value.trim() === meant.text ? meant : { text: input.value.trim() });
    const node = labelled(id, feature.label, hint, input, remark, which);
    return { node, value, target: () => input, draft: () => (input.value.trim() ? written() : null) };
  },

  /** @type {(parts: Parts<Listed>) => Control} */
  buttons({ feature, id, hint, remark, described, words, draft }) {
    /** @type {(index: number, text: string) => [HTMLInputElement, HTMLElement]} */
    const choice = (index, text) => {
      const input = element("input", {
        type: "radio",
        name: id,
        id: `${id}-${index}`,
        value: index,
        ...required(feature),
      });
      return [input, element("label", { class: "choice", for: input.id, dir: "auto" }, input, text)];
    };
    const choices = feature.values.map((_, index) => choice(index, valueWord(feature, index, words)));
    if (optional(feature)) {
      const counts = () => words.noAnswerCounts(isolated(countedAs(feature, words)));
      choices.push(choice(-1, feature.own ? silence(feature, words) : counts()));
    }
    for (const [input] of choices) input.checked = input.value === draft; // none is chosen for the person
    const legend = element("legend", { dir: "auto" }, feature.label);
    const scale = feature.type === "ordinal" ? " scale" : "";
    const list = element("div", { class: `choices${scale}` }, ...choices.map(([, label]) => label));
    const node = element("fieldset", { class: "field", ...described }, legend, hint, list, remark);
    const checked = () => choices.find(([input]) => input.checked)?.[0].value ?? null;
    const value = () => chosen(feature, Number(checked() ?? -1), words);
    return { node, value, target: () => choices[0][0], draft: checked };
  },

  /** @type {(parts: Parts<Listed>) => Control} */
  ticks({ feature, id, hint, remark, described, words, draft }) {
    const most = feature.most ?? feature.values.length;
    if (most < feature.values.length) hint.append(` ${words.tickAtMost(words.number(most))}`);
    /** @type {(index: number, text: string) => [HTMLInputElement, HTMLElement]} */
    const choice = (index, text) => {
      const input = element("input", { type: "checkbox", id: `${id}-${index}`, value: index });
      return [input, element("label", { class: "choice", for: input.id, dir: "auto" }, input, text)];
    };
    const name = (/** @type {number} */ item) => feature.valueWords?.[item] ?? String(feature.values[item]);
    const items = feature.values.map((_, item) => choice(item, name(item)));
    const none = choice(-1, words.noneTicked);
    for (const [input] of [...items, none]) input.checked = (draft ?? []).includes(input.value);
    none[0].addEventListener("input", () => items.forEach(([input]) => (input.checked &&= !none[0].checked)));
    for (const [input] of items) input.addEventListener("input", () => (none[0].checked &&= !input.checked));
    const legend = element("legend", { dir: "auto" }, feature.label);
    const list = element("div", { class: "choices" }, ...[...items, none].map(([, label]) => label));
    const node = element("fieldset", { class: "field", ...described }, legend, hint, list, remark);
    const ticked = () => items.flatMap(([input], item) => (input.checked ? [item] : []));
    const value = () => {
      const chosen = ticked();
      if (chosen.length > most) return { mistake: words.tickAtMost(words.number(most)), certain: true };
      if (!chosen.length && !none[0].checked) return optional(feature) ? {} : { mistake: words.choose };
      const told = chosen.length ? chosen.map(name).join(", ") : words.noneTicked;
      return { given: chosen.map((item) => feature.values[item]), told };
    };
    const marked = () => [...items, none].flatMap(([input]) => (input.checked ? [input.value] : []));
    return { node, value, target: () => items[0][0], draft: () => (marked().length ? marked() : null) };
  },

  /** @type {(parts: Parts<Listed>) => Control} */
  menu({ feature, id, hint, remark, described, words, draft }) {
    const options = feature.values.map((_, index) =>
      element("option", { value: index, dir: "auto" }, valueWord(feature, index, words)),
    );
    const none = element("option", { value: "-1" }, optional(feature) ? silence(feature, words) : "");
    const select = element("select", { id, ...required(feature), ...described }, none, ...options);
    select.value = draft ?? "-1";
    const node = labelled(id, feature.label, hint, select, remark);
    const value = () => chosen(feature, Number(select.value), words);
    return { node, value, target: () => select, draft: () => (select.value === "-1" ? null : select.value) };
  },

  /** @type {(parts: Parts<Listed>) => Control} */
  list({ feature, id, hint, remark, described, words, draft }) {
    const told = feature.values.map((_, index) => valueWord(feature, index, words));
    const search = element("input", {
      id: `${id}-search`,
      type: "search",
      autocomplete: "off",
      "aria-label": words.search,
      placeholder: words.search,
    });
    const select = element("select", { id, size: 6, ...required(feature), ...described });
    const rest = element("p", { class: "hint", role: "status" });
    const none = () => (optional(feature) ? [element("option", { value: "-1" }, silence(feature, words))] : []);
    /** @type {(before: string) => void} */
    const fill = (before) => {
      const part = search.value.trim().toLocaleLowerCase(words.code);
      const found = told.flatMap((word, index) => (word.toLocaleLowerCase(words.code).includes(part) ? [index] : []));
      const shown = found.slice(0, MOST_SHOWN);
      if (before !== "" && Number(before) >= 0 && !shown.includes(Number(before))) shown.unshift(Number(before));
      const options = shown.map((index) => element("option", { value: index, dir: "auto" }, told[index]));
      select.replaceChildren(...none(), ...options);
      select.value = before;
      rest.textContent = found.length > MOST_SHOWN ? words.hidden(words.number(found.length - MOST_SHOWN)) : "";
    };
    search.addEventListener("input", (event) => {
      event.stopPropagation();
      fill(select.value);
    });
    fill(draft ?? "");
    const node = labelled(id, feature.label, hint, search, select, rest, remark);
    const value = () => chosen(feature, select.value === "" ? -1 : Number(select.value), words);
    return { node, value, target: () => search, draft: () => select.value || null };
  },
};
