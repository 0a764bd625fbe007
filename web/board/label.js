/** A label: a line of text. */

import { h, put } from "../house/house.js";
import { BoardComponent } from "./component.js";

/** @import { Board } from "../messages" */

export class BoardLabel extends BoardComponent {
  #text = "";
  #line = h("span.text");
  actions = { setText: (/** @type {Board.Text} */ { text }) => this.#set(text) };

  /** @param {Board.LabelSpawn} payload */
  spawn({ text }) {
    this.append(this.#line);
    this.#set(text);
  }

  #set(text) {
    this.#text = String(text ?? "");
    this.soil();
  }

  paint() {
    put(this.#line, this.#text);
  }

  state() {
    return { text: this.#text };
  }
}

customElements.define("board-label", BoardLabel);
