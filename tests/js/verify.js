// Reads a JSON list of texts; writes for each "kept" if it is a plan that keeps its promises, else the error's name.
import { readFileSync } from "node:fs";

import { parsePlan, verifyPlan } from "../../src/bcdp/web/bcdp.js";

const verdict = async (text) => {
  verifyPlan(await parsePlan(text), { maxEpsilon: Infinity });
  return "kept";
};
const texts = JSON.parse(readFileSync(0, "utf8"));
console.log(JSON.stringify(await Promise.all(texts.map((text) => verdict(text).catch((error) => error.name)))));
