/**
 * SurveyJS: a plan becomes the definition of a form, and whoever completes it has a report made on their own device.
 *
 *     const survey = new Model(formOf(plan));
 *     answerOnComplete(survey, plan, { store: localStorage, send: (message) => post("/v1/reports", message) });
 *
 * `send` promises the text that the collector answers with: only its receipt shows that it has the report.
 */

import { answerOnce } from "./device/answer.js";
import { readReceipt } from "./device/receipt.js";
import { valueWord } from "./device/wording/tell.js";

const MOST_BUTTONS = 7;
const DATE_INPUTS = { days: "date", months: "month", years: "number" };
const NONE = "none"; // of the items of a list, next to their numbers
const nameOf = (index) => `feature-${index}`; // names of features may be any text

/** The definition of a form for `new Model(..)`: a question for each feature, required unless the plan has a rule. */
export function formOf(plan) {
  const elements = askedBy(plan).map(([name, feature], index) => ({
    name: nameOf(index),
    title: feature.label,
    ...describedBy(feature),
    isRequired: feature.missing === null,
    ...controlOf(feature),
    ...(feature.askedIf ? { visibleIf: conditionOf(plan, name) } : {}),
  }));
  const title = plan.survey?.title;
  return { ...(title ? { title } : {}), elements, clearInvisibleValues: "onHidden" };
}

/** The features in the order of the form, the open ones last. */
const askedBy = (plan) => [...plan.features, ...plan.open];

function describedBy({ type, help }) {
  const parts = [help, type === "open" ? "Sent as it is, not protected." : null].filter(Boolean);
  return parts.length ? { description: parts.join(" ") } : {};
}

/** When a follow-up is asked: what it depends on is asked, and has one of the values. */
function conditionOf(plan, name) {
  const places = new Map(askedBy(plan).map(([known], index) => [known, `{${nameOf(index)}}`]));
  return Object.entries(plan.features.get(name).askedIf)
    .map(([parent, stated]) => {
      const feature = plan.features.get(parent);
      const choices = [stated].flat().map((value) => choiceOf(feature, value));
      const each = choices.map((choice) =>
        feature.type === "multiple"
          ? `${places.get(parent)} contains ${JSON.stringify(choice)}`
          : `${places.get(parent)} = ${choice}`,
      );
      if (choices.includes(feature.imputed)) each.push(`${places.get(parent)} empty`);
      const asked = feature.askedIf ? `(${conditionOf(plan, parent)}) and ` : "";
      return `${asked}(${each.join(" or ")})`;
    })
    .join(" and ");
}

/** A value as the form has it: its number among the feature's values. */
function choiceOf({ values, plain }, value) {
  const place = values.indexOf(plain && typeof value === "boolean" ? Number(value) : value);
  return place < 0 ? NONE : place; // a condition names a value, or "none of these"
}

function controlOf(feature) {
  if (feature.dates) {
    const [min, max] = feature.bounds.map((end) => feature.dateOf(end));
    return { type: "text", inputType: DATE_INPUTS[feature.dates.unit], min, max };
  }
  if (feature.type === "numeric") {
    const [min, max] = feature.bounds;
    return { type: "text", inputType: "number", step: "any", min, max };
  }
  if (feature.type === "multiple") return listOf(feature);
  const choices = feature.values.map((_, index) => ({ value: index, text: valueWord(feature, index) }));
  const type = choices.length <= MOST_BUTTONS ? "radiogroup" : "dropdown";
  return { type, choices, ...(feature.missing === null ? {} : { showClearButton: true, allowClear: true }) };
}

/** A list to tick, with a box of its own for nothing ticked. */
function listOf(feature) {
  const wordOf = (ticked) => valueWord({ ...feature, sets: [ticked] }, 0);
  return {
    type: "checkbox",
    choices: feature.values.map((_, item) => ({ value: item, text: wordOf([item]) })),
    showNoneItem: true,
    noneText: wordOf([]),
    ...(feature.stated.at_most ? { maxSelectedChoices: feature.stated.at_most } : {}),
  };
}

/** The record `{ feature: value }` of a completed form's data. */
export function recordOf(plan, data) {
  const given = (feature, value) => {
    if (value === undefined || feature.type === "numeric") return value;
    if (feature.type !== "multiple") return feature.values[value];
    return value.filter((item) => item !== NONE).map((item) => feature.values[item]);
  };
  return Object.fromEntries(
    askedBy(plan).map(([name, feature], index) => [name, given(feature, data[nameOf(index)]) ?? null]),
  );
}

/** Makes the report when the form is completed, and sends it; what was entered stays in the form. */
export function answerOnComplete(survey, plan, { store, send }) {
  survey.onComplete.add(async (sender, options) => {
    options.showSaveInProgress?.();
    try {
      const report = await answerOnce(plan, recordOf(plan, sender.data), store);
      readReceipt(await send({ plan: plan.id, reports: [report] }));
      options.showSaveSuccess?.();
    } catch (error) {
      options.showSaveError?.(error.message);
    }
  });
}
