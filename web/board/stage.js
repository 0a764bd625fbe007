/**
 * The stage: one board, from the messages that come to what is seen.
 *
 *   hear() -> inbox (once a frame) -> scene -> document
 *
 * Rules
 *   - A page that comes, or comes back, is shown the whole board after a clearAll. So is one whose script starts again.
 *     Each clearAll begins a new scene out of sight; it takes the place of the old one when no more messages come for
 *     `QUIET`, or after `HOLD`. Nothing blinks, and what the reader has unfolded, scrolled or begun to write stays.
 *     Where nothing is shown there is nothing to keep, and it is seen as it comes.
 *   - Everything else is applied to the newest scene, in the order of arrival.
 */

import { Inbox } from "./inbox.js";
import { Scene } from "./scene.js";

/** @import { Board } from "../messages" */

const QUIET = 50; // milliseconds; a long board comes in pieces
const HOLD = 150; // milliseconds; a script may clear and draw all the time
const HOLD_AFTER_LOSS = 2000; // the whole board may be long

export class Stage {
  /** The scene that is seen. */
  shown;

  #surroundings;
  #peers;
  #notes;
  #turned;
  #inbox = new Inbox((message) => this.#hear(message), () => this.#turn());
  #coming = null; // the scene that is being built
  #heardAt = 0;
  #comingBy = 0; // when it is shown at the latest
  #returning = false; // the connection was lost, and the board has not been shown anew
  #ended = false;

  /**
   * `say(message)` reaches the script; `turned()` is called when messages have been shown; `unheard()` says why no
   * script hears what is done, if that is so.
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

  /** The connection was lost; the whole board will be told anew. */
  lose() {
    this.#returning = true;
  }

  /** Nobody hears what is done to this board: its controls say so. */
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
