/** What a plan promises and what a report says, in words; languages are in `bcdp-device/words/de` and so on. */

export { ENGLISH } from "./device/wording/english.js";
export { explain } from "./device/wording/explain.js";
export { operatorSays, promises } from "./device/wording/promise.js";
export { quoted, valueWord } from "./device/wording/tell.js";
