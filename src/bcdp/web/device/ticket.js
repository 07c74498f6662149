/** Menus that tickets assign: word 0 is the first 32 bits of the SHA-256 of the plan's id and the ticket. */

import { refuse } from "./checks.js";

/**
 * The word that draws the menu of a ticket.
 * @type {(plan: import("./reading/plan.js").Plan, ticket: string | null) => Promise<number>}
 */
export async function menuWord(plan, ticket) {
  if (ticket === null) throw refuse("ticket", ticket, "the ticket of an invitation, because it assigns the menu");
  const digest = await plan.sha256(new TextEncoder().encode(`bcdp menu\n${plan.id}\n${ticket}`));
  return new DataView(digest.buffer, digest.byteOffset).getUint32(0);
}
