/**
 * <board-standing>: the state of the board as a whole. It is empty while scripts are connected. If there are none, it
 * says when the board was last drawn on, and that input has no effect. While a large board comes in, it says that, so that
 * nobody takes a part of it for all. `standing.state = {scripts, drawnAt, showing}` is the server's message (null: not
 * known), `standing.empty` is whether the page shows nothing.
 *
 *   standing.showing  there is more of the board to come
 *   standing.ended    something is on the board, and no script is connected
 *   standing.sentence what a reader who clicks or types is told then
 */

import { HouseElement, h, icon, put } from "../house/house.js";

const time = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit" });
const day = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "long" });
const dayOfYear = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "long", year: "numeric" });

/** A time as people write it: "14:03", "21 November, 14:03". */
export function moment(at, now = new Date()) {
  const then = new Date(at);
  if (then.toDateString() === now.toDateString()) return time.format(then);
  const date = then.getFullYear() === now.getFullYear() ? day : dayOfYear;
  return `${date.format(then)}, ${time.format(then)}`;
}

class BoardStanding extends HouseElement {
  sentence = "No script is connected, so this was not sent.";
  /** @type {import("../messages").Board.BoardState | null} */
  #state = null;
  #empty = true;
  #said = h("p");
  #line = h("div.line", { hidden: true }, icon("clock"), this.#said);

  build() {
    this.setAttribute("role", "status");
    this.append(this.#line);
    this.#show();
  }

  /** @param {import("../messages").Board.BoardState | null} state */
  set state(state) {
    this.#state = state;
    this.#show();
  }

  set empty(empty) {
    if (empty === this.#empty) return;
    this.#empty = empty;
    this.#show();
  }

  get scripts() {
    return this.#state?.scripts ?? null;
  }

  get showing() {
    return this.#state?.showing === true;
  }

  get ended() {
    return this.scripts === 0 && !this.#empty && !this.showing;
  }

  #show() {
    this.#line.hidden = !this.ended && !this.showing;
    const { drawnAt = null } = this.#state ?? {};
    const from = drawnAt === null ? "" : `As of ${moment(drawnAt)}. `;
    const ended = `${from}No script is connected, so clicks and typing have no effect.`;
    put(this.#said, this.showing ? "The board is still coming in." : this.ended ? ended : "");
    this.announce("standing");
  }
}

customElements.define("board-standing", BoardStanding);
