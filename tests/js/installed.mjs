// Run by any runtime where the package is installed: every vector is met through the package alone.
import { readFileSync, readdirSync } from "node:fs";

import { meet } from "./meet.mjs";

const folder = (globalThis.Deno?.args ?? process.argv.slice(2)).at(-1);
const names = readdirSync(folder).filter((file) => file.endsWith(".json"));
const read = (name) => [name, JSON.parse(readFileSync(`${folder}/${name}`, "utf8"))];
console.log(JSON.stringify(await meet(Object.fromEntries(names.map(read)))));
