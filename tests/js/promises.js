// Reads a JSON list of plans' texts; writes for each what the page says: the sentences of promises, the operator's words.
import { readFileSync } from "node:fs";

import { operatorSays, parsePlan, promises } from "../../src/bcdp/web/bcdp.js";

const texts = JSON.parse(readFileSync(0, "utf8"));
const said = async (plan) => [...promises(plan).map(({ sentence }) => sentence), operatorSays(plan)];
console.log(JSON.stringify(await Promise.all(texts.map(async (text) => said(await parsePlan(text))))));
