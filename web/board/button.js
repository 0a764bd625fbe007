/** A button: sends "click" to the script. */

import { h, mark, put } from "../house/house.js";
import { BoardComponent } from "./component.js";

/** @import { Board } from "../messages" */

export class BoardButton extends BoardComponent {
  #text = "";
  #button = h("button", { type: "button", onclick: () => this.event({ event: "click" }) });
  actions = { setText: (/** @type {Board.Text} */ { text }) => this.#set(text) };

  /** @param {Board.ButtonSpawn} payload */
  spawn({ text }) {
    this.append(this.#button);
    this.#set(text);
  }

  #set(text) {
    this.#text = String(text ?? "");
    this.soil();
  }

  paint() {
    put(this.#button, this.#text);
    mark(this.#button, "aria-label", this.#text.trim() ? null : "Button");
  }

  state() {
    return { text: this.#text };
  }

  keep() {
    return document.activeElement === this.#button;
  }

  resume(focused) {
    if (focused) this.#button.focus({ preventScroll: true });
  }
}

customElements.define("board-button", BoardButton);
