/** What a plan promises and what a report says, in words; languages are in `bcdp-device/words/de` and so on. */

export { ENGLISH } from "./device/english.js";
export { explain } from "./device/explain.js";
export { operatorSays, promises } from "./device/promise.js";
export { quoted, valueWord } from "./device/tell.js";
