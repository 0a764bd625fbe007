/** The states of a request, each with a sign, a tone and a word of its own; and how a request's times read. Pure. */

import { format } from "../house/house.js";

/** @import { Desk } from "../messages" */

/** @type {Record<Desk.RequestFact["state"], [sign: string, tone: string, word: string]>} */
export const STATES = {
  waiting: ["clock", "idle", "waiting"],
  polling: ["half", "info", "polling"],
  retrying: ["again", "warn", "retrying"],
  success: ["check", "good", "success"],
  "gave up": ["cross", "bad", "gave up"],
  cancelled: ["block", "idle", "cancelled"],
};

export const OPEN = new Set(["waiting", "polling", "retrying"]);
/** What gets three fresh attempts when it is asked for. */
export const FAILED = new Set(["gave up", "cancelled"]);

/** @param {number} seconds */
export function lasted(seconds) {
  if (seconds >= 0.9995 && seconds < 1) return "1.0 s";
  return seconds < 60 ? format.brief(seconds) : format.span(seconds);
}

/** "1 request", "1,204 requests". */
export function requests(count) {
  return count === 1 ? "1 request" : `${format.count(count)} requests`;
}
