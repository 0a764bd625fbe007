/** <board-notes>: problems that belong to no component on the board, such as a spawn that was refused. */

import { HouseElement, h, icon, put } from "../house/house.js";

const MOST = 3;

class BoardNotes extends HouseElement {
  #notes = [];

  build() {
    this.setAttribute("role", "status");
  }

  add(text) {
    const same = this.#notes.find((note) => note.text === text);
    if (same) {
      same.count += 1;
      put(same.times, `${same.count} times`);
      return;
    }
    const note = { text, count: 1, times: h("span.times") };
    const drop = () => this.#drop(note);
    const close = h("button.quiet", { type: "button", ariaLabel: "Dismiss", onclick: drop }, icon("cross"));
    note.element = h("p.note", {}, icon("alarm"), h("span", {}, text), note.times, close);
    this.#notes.push(note);
    this.append(note.element);
    if (this.#notes.length > MOST) this.#drop(this.#notes[0]);
  }

  clear() {
    for (const note of [...this.#notes]) this.#drop(note);
  }

  #drop(note) {
    this.#notes.splice(this.#notes.indexOf(note), 1);
    note.element.remove();
  }
}

customElements.define("board-notes", BoardNotes);
