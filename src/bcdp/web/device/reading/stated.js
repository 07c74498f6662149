/** What some plans state besides what is asked; loaded with those that do. */

import { refuse } from "../checks.js";
import { readRelay } from "./relay.js";
import { readSurvey } from "./survey.js";

/** @type {(collection: any) => Pick<import("./plan.js").Plan, "survey" | "relay" | "byTicket">} */
export function readStated({ survey = null, relay = null, menu_from: from, trust }) {
  if (from !== undefined && (from !== "ticket" || trust !== undefined)) {
    throw refuse("collection.menu_from", from, "ticket where devices alone are trusted"); // who knows a ticket knows its menu
  }
  return {
    survey: survey === null ? null : readSurvey("collection.survey", survey),
    relay: relay === null ? null : readRelay("collection.relay", relay),
    byTicket: from !== undefined,
  };
}
