/** The core: a plan is read, checked and answered once. Words about it are in `bcdp-device/words`. */

export { answer, answerOnce, answers, answersOnce, keptReport, randomWords } from "./device/answer.js";
export { certify } from "./device/certificate.js";
export { MAX_EPSILON, verifyPlan } from "./device/verify.js";
export { InputError } from "./device/checks.js";
export { parsePlan } from "./device/reading/plan.js";
