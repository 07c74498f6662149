// Reads a JSON list of plans' texts; writes the list of their levels, whatever they claim, as [epsilon, c, delta].
import { readFileSync } from "node:fs";

import { certify, parsePlan } from "../../src/bcdp/web/bcdp.js";

const texts = JSON.parse(readFileSync(0, "utf8"));
const levels = await Promise.all(texts.map(async (text) => certify(await parsePlan(text))));
const spelled = (map) => Object.fromEntries([...map].map(([name, level]) => [name, String(level)]));
console.log(JSON.stringify(levels.map(({ epsilon, c, delta }) => [String(epsilon), spelled(c), spelled(delta)])));
