/**
 * The device in the browser: reads a plan, checks what it promises, answers it once, and says what leaves the device.
 *
 * It depends on nothing but this folder and runs in browsers and in Node 20. `plan.relay` is where reports go sealed, if
 * not null: `sendSealed` of `sealing.js`.
 *
 *     const plan = await parsePlan(text);                              // the form, and the id of the plan
 *     verifyPlan(plan, { maxEpsilon: 2, maxDelta: 0.5 });              // the promises, recomputed from the tables
 *     const report = answerOnce(plan, { smoker: true }, localStorage); // { id, menu, answer }, the same one ever after
 *     explain(plan, report).sentences;                                 // what it says about you, in plain words
 */

export { answer, answerOnce, answers, answersOnce, keptReport, openOf, randomWords } from "./device/answer.js";
export { certify } from "./device/certificate.js";
export { MAX_EPSILON, verifyPlan } from "./device/verify.js";
export { InputError } from "./device/checks.js";
export { chanceOf, logUp, oddsOf } from "./device/exact.js";
export { ENGLISH } from "./device/wording/english.js";
export { explain, hintedNumbers } from "./device/wording/explain.js";
export { panelPeriods, panelReport } from "./device/panel.js";
export { spentOn, totalUp } from "./device/ledger.js";
export { parsePlan } from "./device/reading/plan.js";
export { operatorSays, promisedNumbers, promises } from "./device/wording/promise.js";
export { releaseOf } from "./device/releases.js";
export { quoted, tellHint, tellOpen, tellPromise, valueWord } from "./device/wording/tell.js";
