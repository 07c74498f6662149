/** A panel on the survey page: whether this browser's device is asked today, and what it does then. */

import { ledger, memory } from "./memory.js";

/** @typedef {import("../device/panel.js").Part} Part */
/** @typedef {import("../device/panel.js").Period} Period */
/** @typedef {"later" | "earlier" | "between" | "now" | "over"} Due */
/** @typedef {{ part: Part, due: Due, periods: Period[], menu: number }} Joined */
/** @typedef {import("../words/choose.js").Spoken} Spoken */
/** @typedef {{ ask: (what: string, given: unknown) => Promise<any> }} Device */

/** @type {(id: string) => string} */
const keyOf = (id) => `panel.${id}`;

/**
 * This browser's part in a panel, drawn, kept and entered in the ledger on the first call; whoever calls it is `alone`.
 * @type {(id: string, device: Device, ticket: string | null) => Promise<Joined>}
 */
export async function join(id, device, ticket) {
  const kept = memory.get(keyOf(id));
  const joined = await device.ask("join", { kept, ticket });
  if (kept === null) {
    const release = await device.ask("release", { report: { menu: joined.menu } });
    memory.set(keyOf(id), JSON.stringify(joined.part));
    ledger.add(release);
  }
  return joined;
}

/**
 * Whether this device is asked now, by what it keeps and today's date; whoever calls it is `alone`.
 * @type {(sheet: { id: string, joined: Joined | null }, device: Device, ticket: string | null) => Promise<boolean>}
 */
export async function isAskedNow(sheet, device, ticket) {
  sheet.joined = await join(sheet.id, device, ticket);
  return sheet.joined.due === "now";
}

/**
 * In the earlier wave of a question about a change: prepares the answer, and keeps it. Says when this device is asked.
 * @type {(sheet: { id: string, joined: Joined | null }, device: Device, ticket: string | null, record: unknown,
 *   words: Spoken) => Promise<string>}
 */
export async function keptForLater(sheet, device, ticket, record, words) {
  const joined = (sheet.joined = await join(sheet.id, device, ticket)); // as it is now, whatever other tabs did
  if (joined.due !== "earlier") return whenAsked(joined, words);
  memory.set(keyOf(sheet.id), JSON.stringify(await device.ask("prepare", { part: joined.part, record })));
  return `${words.panelPrepared} ${whenAsked({ ...joined, due: "between" }, words)}`;
}

/**
 * When this device is asked next, or that it is asked no more, in words.
 * @type {(joined: Joined, words: Spoken) => string}
 */
export function whenAsked({ due, periods }, words) {
  if (due === "over") return words.panelOver;
  const { first, last } = due === "later" ? periods[0] : periods[periods.length - 1];
  const [from, to] = [first, last].map((day) =>
    new Date(day).toLocaleDateString(words.code, { dateStyle: "long", timeZone: "UTC" }),
  );
  return words.panelAsks(from, to);
}
