/** What answers to several plans reveal together. */

export { spentOn, totalUp } from "./device/ledger.js";
export { releaseOf } from "./device/releases.js";
