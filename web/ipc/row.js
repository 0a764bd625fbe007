/** A row of the list: what of a request is painted into which cell. Texts come from outside, and stay texts. */

import { format, h, mark, put } from "../house/house.js";
import { STATES, lasted } from "./states.js";

/** @import { Desk } from "../messages" */

export const COLUMNS = [
  ["pick", ""],
  ["state", "State"],
  ["id", "Request"],
  ["command", "Command"],
  ["tries", "Attempts"],
  ["lasted", "Took"],
  ["age", "Accepted"],
  ["message", "Last failure"],
];

/** Makes a row's cells, once; what it returns paints a request into them, or null for one that has not come yet. */
export function painter(element) {
  const cells = Object.fromEntries(COLUMNS.map(([name]) => [name, h(`div.${name}`, { role: "gridcell" })]));
  const pill = h("house-pill");
  const box = h("span.box", { ariaHidden: "true" });
  cells.state.append(pill);
  cells.pick.append(box);
  element.append(...Object.values(cells));

  const text = (name, said, title = said) => {
    put(cells[name], said);
    mark(cells[name], "title", title || null);
  };

  /**
   * @param {Desk.RequestFact | null} fact
   * @param {number} now seconds since 1970
   */
  return (fact, now) => {
    element.classList.toggle("coming", fact === null);
    pill.hidden = fact === null;
    mark(element, "data-id", fact?.id ?? null);
    if (fact === null) {
      for (const name of ["id", "command", "tries", "lasted", "age", "message"]) text(name, "");
      return;
    }
    pill.said = STATES[fact.state] ?? ["ring", "idle", fact.state];
    const attempts = fact.attempts ?? 0;
    text("id", fact.id);
    text("command", fact.command);
    text("tries", attempts ? String(attempts) : "–", attempts === 1 ? "1 attempt" : `${attempts} attempts`);
    mark(cells.tries, "data-many", attempts > 1);
    text("lasted", fact.seconds === undefined || fact.seconds === null ? "" : lasted(fact.seconds));
    text("age", format.ago(now - fact.created), format.exact(fact.created));
    text("message", fact.message ?? "");
  };
}
