/**
 * The stage: it turns incoming messages into one visible board.
 *
 *   hear() -> inbox (once a frame) -> scene -> document
 *
 * Rules
 *   - When a page connects or reconnects, or when a script starts again, the page is sent a clearAll and then the whole
 *     board. Each clearAll begins a new, invisible scene. It replaces the old one when no more messages come for
 *     `QUIET`, or after `HOLD`. So nothing flickers, and what the reader has unfolded, scrolled or begun to write
 * stays.
 *     If the old scene is empty, the new one is visible from the beginning.
 *   - Everything else is applied to the newest scene, in the order of arrival.
 */

import { Inbox } from "./inbox.js";
import { Scene } from "./scene.js";

/** @import { Board } from "../messages" */

const QUIET = 50; // milliseconds; a large board comes in pieces
const HOLD = 150; // milliseconds; a script may clear and draw all the time
const HOLD_AFTER_LOSS = 2000; // milliseconds; the whole board may be large

export class Stage {
  /** The visible scene. */
  shown;

  #surroundings;
  #peers;
  #notes;
  #turned;
  #inbox = new Inbox((message) => this.#hear(message), () => this.#turn());
  /** @type {Scene | null} */
  #coming = null; // the scene that is being built
  #heardAt = 0;
  #comingBy = 0; // the latest time to show it
  #returning = false; // the connection was lost, and the board was not sent again yet
  #ended = false;

  /**
   * `say(message)` sends a message to the script. `turned()` is called when messages have been shown. `unheard()` says
   * why no script receives the reader's input, if that is so.
   */
  constructor(root, { say, peers, notes, turned, unheard = () => "" }) {
    this.#peers = peers;
    this.#notes = notes;
    this.#turned = turned;
    this.#surroundings = { say, unheard, note: (text) => notes.add(text), wake: () => this.#inbox.wake() };
    this.shown = new Scene(this.#surroundings, root);
  }

  /** @param {Board.Message} message */
  hear(message) {
    this.#inbox.add(message);
  }

  /** The connection was lost; the whole board will be sent again. */
  lose() {
    this.#returning = true;
  }

  /** No script receives the reader's input: the controls show that. */
  set ended(ended) {
    if (ended || ended !== this.#ended) this.shown.mute(ended);
    this.#ended = ended;
  }

  get empty() {
    return this.shown.size === 0 && this.#coming === null;
  }

  /** @param {Board.Message} message */
  #hear(message) {
    if (message === null || typeof message !== "object") return;
    this.#heardAt = performance.now();
    if (message.component === "system" && message.type === "announce") this.#peers.hear(message.payload ?? {});
    else if (message.component === "global" && message.type === "clearAll") this.#begin();
    else (this.#coming ?? this.shown).apply(message);
  }

  #begin() {
    if (!this.#coming) this.#comingBy = performance.now() + (this.#returning ? HOLD_AFTER_LOSS : HOLD);
    this.#coming = new Scene(this.#surroundings);
    this.#notes.clear();
  }

  #turn() {
    const now = performance.now();
    if (this.#coming && (this.shown.size === 0 || now > this.#heardAt + QUIET || now > this.#comingBy)) {
      this.#coming.replace(this.shown);
      this.shown = this.#coming;
      this.#coming = null;
      this.#returning = false;
    }
    if (this.#coming) this.#inbox.wake();
    this.shown.paint();
    this.#turned();
  }
}
