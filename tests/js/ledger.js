// Reads a JSON list of [plans' texts, menus (null: not known), name, q, odds]; writes what is spent on each name.
import { readFileSync } from "node:fs";

import { parsePlan, releaseOf, spentOn } from "../../src/bcdp/web/bcdp.js";

async function spent([texts, menus, name, q, odds]) {
  const plans = await Promise.all(texts.map(parsePlan));
  const rows = plans.map((plan, number) => releaseOf(plan, menus[number] ?? undefined));
  return spentOn(JSON.parse(JSON.stringify(rows)), name, { q: q ?? undefined, odds: odds ?? undefined });
}

console.log(JSON.stringify(await Promise.all(JSON.parse(readFileSync(0, "utf8")).map(spent))));
