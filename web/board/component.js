/**
 * The base class of all components of the board.
 *
 * A component is its element: the document is the only copy of the board. A message changes the component's state at
 * once and in order. `paint()` then writes the state into the document, once a frame, for components that have called
 * `soil()`. So a thousand messages between two frames cost one layout.
 *
 * A kind of component defines
 *   spawn(payload)        makes its content from the payload of the spawn
 *   actions               action -> function of the options
 *   paint()               optional: writes what has changed since the last frame
 *   state()               its content as plain data, for the export
 *   keep(), resume(kept)  optional: the reader's part of the state (a draft, unfolded rows, the scroll position). It is
 *                         handed on when the whole board is shown anew and contains this component again
 */

import { HouseElement, h, icon, put } from "../house/house.js";

export class BoardComponent extends HouseElement {
  /** @type {import("./scene.js").Scene} */
  scene;
  kind = "";
  key = "";
  actions = {};
  /** @type {{element: HTMLElement, text: HTMLElement} | null} */
  #note = null;
  #unheard = false; // the note says that no script has received the reader's input

  /** Called once, before the element enters any document. */
  begin(scene, kind, key, payload) {
    Object.assign(this, { scene, kind, key });
    this.dataset.id = key;
    this.dataset.key = `component ${key}`; // the whole board may be shown anew while a button is pressed
    this.spawn(payload);
  }

  /** @param {any} _payload */
  spawn(_payload) {}
  paint() {}

  state() {
    return {};
  }

  /** @returns {any} */
  keep() {
    return null;
  }

  /** @param {any} _kept */
  resume(_kept) {}

  /** Whether it may contain other components. */
  get holds() {
    return false;
  }

  update(payload) {
    const act = Object.hasOwn(this.actions, payload?.action) ? this.actions[payload.action] : null;
    if (!act) throw new Error(`A ${this.kind} of this page has no action "${payload?.action}".`);
    act(payload.options ?? {}, payload);
  }

  soil() {
    this.scene.soil(this);
  }

  /** Sends the script what the reader has done; false if that failed. If there is no script, a note says so. */
  event(payload) {
    const message = { id: 0, component: this.kind, type: "event", src: this.key, payload };
    const told = this.scene.say(/** @type {import("../messages").Board.Event} */ (message)); // of its own kind
    const unheard = told ? "" : this.scene.unheard();
    if (unheard) {
      this.note(payload.event === "submit" ? `${unheard} It stays here.` : unheard);
      this.#unheard = true;
    }
    return told;
  }

  /** A script is connected again. */
  relieve() {
    if (this.#unheard) this.#drop();
  }

  /** Tells the script and the reader that something could not be done. */
  complain(message) {
    this.scene.say({ id: 0, component: this.kind, type: "error", src: this.key, payload: { message } });
    this.note(message);
  }

  /** Shows a small note at this component. A later note replaces it. */
  note(message) {
    if (!this.#note) {
      const text = h("span");
      const onclick = () => this.#drop();
      const button = h("button.quiet", { type: "button", ariaLabel: "Dismiss", onclick }, icon("cross"));
      const element = h("p.note", { role: "status" }, icon("alarm"), text, button);
      this.#note = { element, text };
      this.append(element);
    }
    put(this.#note.text, message);
    this.#unheard = false;
  }

  #drop() {
    this.#note?.element.remove();
    this.#note = null;
    this.#unheard = false;
  }

  /** The element before which its children are inserted; null for the end. */
  get end() {
    return this.#note?.element ?? null;
  }
}
