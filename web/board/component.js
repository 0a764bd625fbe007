/**
 * What every component of the board has in common.
 *
 * A component is its element: the document is the only copy of the board there is. A message changes the component's
 * state at once and in order; what that means for the document is written by `paint()`, once a frame, for those that
 * said `soil()`. So a thousand messages between two frames cost one layout.
 *
 * A component gives
 *   spawn(payload)        its content, from the payload of the spawn
 *   actions               action -> what it does with the options
 *   paint()               optional: writes what has changed since the last frame
 *   state()               what it shows, as plain data, for the export
 *   keep(), resume(kept)  optional: what belongs to the reader (a draft, what is unfolded, how far it is scrolled),
 *                         handed on when the whole board is shown anew and this component stands on it again
 */

import { HouseElement, h, icon, put } from "../house/house.js";

export class BoardComponent extends HouseElement {
  scene = null;
  kind = "";
  key = "";
  actions = {};
  #note = null;
  #unheard = false; // the note says that nobody has heard what was done here

  /** Called once, before the element enters any document. */
  begin(scene, kind, key, payload) {
    Object.assign(this, { scene, kind, key });
    this.dataset.id = key;
    this.spawn(payload);
  }

  /** @param {any} _payload */
  spawn(_payload) {}
  paint() {}

  state() {
    return {};
  }

  keep() {
    return null;
  }

  /** @param {any} _kept */
  resume(_kept) {}

  /** Whether other components may stand in it. */
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

  /** Tells the script what the reader has done; false if it could not be told. Where there is none, it says so here. */
  event(payload) {
    const told = this.scene.say({ id: 0, component: this.kind, type: "event", src: this.key, payload });
    const unheard = told ? "" : this.scene.unheard();
    if (unheard) {
      this.note(payload.event === "submit" ? `${unheard} It stays here.` : unheard);
      this.#unheard = true;
    }
    return told;
  }

  /** A script is there again. */
  relieve() {
    if (this.#unheard) this.#drop();
  }

  /** Tells the script, and the reader, what could not be done. */
  complain(message) {
    this.scene.say({ id: 0, component: this.kind, type: "error", src: this.key, payload: { message } });
    this.note(message);
  }

  /** A quiet word at this component; a later one takes its place. */
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

  /** What its children are put in front of. */
  get end() {
    return this.#note?.element ?? null;
  }
}
