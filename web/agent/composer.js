/**
 * <agent-composer>: where one writes. Enter sends, Shift+Enter is a new line. While a turn runs, what is sent waits for
 * its end, or steers it: then the turn hears it before its next step. What waits is listed, and can be taken back; so is
 * what may not have arrived before a connection was lost. What was sent just now, and is not confirmed, is listed as that.
 *
 * A text that could not be sent stays in the field. Each session keeps its own draft, also over a reload.
 * Events: "say" {message, context, delivery}, "stop", "withdraw" {id}, "up" (ArrowUp where nothing is written).
 */

import { HouseElement, h, icon, inComposition, mark, put } from "../house/house.js";

const COMMANDS = {
  "/explain": "Explain the selection, or a file",
  "/fix": "Fix the problems that the editor reports",
  "/test": "Write or find tests",
  "/refactor": "Improve code without a change of what it does",
};
const DOUBT = "What is marked here may not have arrived. It is said again as soon as the server is back.";
const MENTION = /(?:^|\s)@([^\s@]+)/g;

class AgentComposer extends HouseElement {
  #field = h("textarea", { rows: 1, ariaLabel: "Message", maxLength: 1_000_000, spellcheck: true, dir: "auto",
    placeholder: "Ask, or /explain /fix /test /refactor" });
  #steer = h("button.steer", { type: "button", title: "The turn hears it before its next step",
    onclick: () => this.#send("steer") }, "Steer");
  #send_ = h("button.send", { type: "submit" }, icon("up"), h("span", {}, "Send"));
  #stop = h("button.stop", { type: "button", onclick: () => this.announce("stop") }, icon("block"), "Stop", h("kbd", { ariaHidden: "true" }, "Esc"));
  #queue = h("ul.queue", { ariaLabel: "Messages that wait" });
  #hints = h("ul.hints", { role: "listbox", ariaLabel: "Commands", hidden: true, id: "agent-hints" });
  #trouble = h("p.trouble", { hidden: true, role: "status" }, icon("alarm"), h("span"));
  #running = false;
  #id = null;
  #drafts = new Map();
  #marked = 0;
  /** What waits, as it was drawn last: a button that somebody is about to press stays. */
  #waiting = "";
  /** What was taken back last. */
  #withdrawn = "";

  build() {
    const buttons = h("div.buttons", {}, this.#steer, this.#stop, this.#send_);
    const form = h("form", { onsubmit: (event) => this.#submitted(event) }, this.#field, buttons);
    this.append(this.#trouble, this.#queue, this.#hints, form);
    this.#field.addEventListener("input", () => this.#changed());
    this.#field.addEventListener("keydown", (event) => this.#key(event));
    this.#field.setAttribute("aria-controls", this.#hints.id);
    let width = 0;
    new ResizeObserver(([{ contentRect }]) => {
      if (contentRect.width === width) return;
      ({ width } = contentRect);
      this.#fit(); // the same text has other lines
    }).observe(this.#field);
    this.#changed();
  }

  /** What is written and was not sent, of each session. */
  get drafts() {
    if (this.#id !== null) this.#drafts.set(this.#id, this.#field.value);
    return Object.fromEntries([...this.#drafts].filter(([, text]) => text));
  }

  set drafts(texts) {
    this.#drafts = new Map(Object.entries(texts));
  }

  /** The session that is written to. */
  set session(id) {
    if (this.#id !== null) this.#drafts.set(this.#id, this.#field.value);
    this.#id = id;
    this.#field.value = this.#drafts.get(id) ?? "";
    this.#field.disabled = id === null;
    this.#changed();
  }

  /**
   * `doubtful`: what may not have arrived. `unconfirmed`: what was sent just now. `trouble`: why nothing is taken at the moment.
   *
   * @typedef {{message_id: string, message: string, delivery: string}} Said
   * @param {{running: boolean, doubtful: Said[], unconfirmed: Said[], queued: Said[], trouble: string | null}} state
   */
  show({ running, doubtful, unconfirmed, queued, trouble }) {
    const alarm = doubtful.length ? DOUBT : trouble;
    this.#trouble.hidden = !alarm;
    put(this.#trouble.lastChild, alarm ?? "");
    this.#running = running;
    this.#stop.hidden = !running;
    this.#steer.hidden = !running;
    put(this.#send_.lastChild, running ? "Queue" : "Send");
    this.#queue.hidden = !queued.length && !doubtful.length && !unconfirmed.length;
    const waiting = JSON.stringify([queued, doubtful, unconfirmed]);
    if (waiting === this.#waiting) return;
    this.#waiting = waiting;
    const focused = document.activeElement?.closest("li");
    const wasIn = focused && this.#queue.contains(focused) ? [...this.#queue.children].indexOf(focused) : -1;
    const wasOn = wasIn === -1 ? "" : focused?.dataset.key;
    const row = (sign, { message_id: id, message }) => h("li", { "data-key": `queued ${id}` },
      icon(sign), h("span", {}, message),
      h("button.quiet", { type: "button", title: "Take it back", ariaLabel: `Take back: ${message.slice(0, 60)}`,
        onclick: () => this.#withdraw(id) }, icon("cross")));
    this.#queue.replaceChildren(...queued.map((each) => row(each.delivery === "steer" ? "out" : "clock", each)),
      ...doubtful.map((each) => row("alarm", each)), ...unconfirmed.map(({ message_id: id, message }) =>
        h("li.unconfirmed", { "data-key": `queued ${id}` }, icon("half"), h("span", {}, message), h("em", {}, "not confirmed yet"))));
    if (wasIn === -1) return;
    const rows = /** @type {HTMLElement[]} */ ([...this.#queue.children]);
    const next = wasOn === `queued ${this.#withdrawn}` ? (rows[wasIn] ?? rows.at(-1)) : rows.find(({ dataset }) => dataset.key === wasOn);
    (next?.querySelector("button") ?? this.#field).focus(); // what went by itself leads to no other message's button
  }

  #withdraw(id) {
    this.#withdrawn = id;
    this.announce("withdraw", { id });
  }

  focus() {
    this.#field.focus();
  }

  /** Whether nothing else is written by now. @param {string} message */
  holds(message) {
    return this.#field.value.trim() === message;
  }

  /** What was said has been sent. */
  sent() {
    this.#field.value = "";
    this.#drafts.delete(this.#id);
    this.#changed();
  }

  /** A file that the message is about. @param {string} path */
  mention(path) {
    const { value, selectionStart: start, selectionEnd: end } = this.#field;
    const before = value.slice(0, start);
    const gap = !before || /\s$/.test(before) ? "" : " ";
    this.#field.setRangeText(`${gap}@${path} `, start, end, "end");
    this.#field.focus();
    this.#changed();
  }

  /** A message that was taken back can be written anew, above what has been written meanwhile. */
  giveBack(text) {
    if (!text) return;
    const { value } = this.#field;
    if (value.trim()) this.#field.setRangeText(`${text}\n\n`, 0, 0); // whoever is typing goes on where they were
    else this.#field.value = text;
    this.#changed();
  }

  #submitted(event) {
    event.preventDefault();
    this.#send("queue");
  }

  #send(delivery) {
    const message = this.#field.value.trim();
    if (!message) {
      this.#field.focus();
      return;
    }
    const command = Object.keys(COMMANDS).find((each) => message === each || message.startsWith(`${each} `));
    const mentions = [...message.matchAll(MENTION)].map(([, path]) => ({ type: "file", path: path.replace(/[.,;:!?]$/, "") }));
    const context = { ...(command ? { command } : {}), ...(mentions.length ? { mentions } : {}) };
    this.announce("say", { message, context, delivery: this.#running ? delivery : "queue" });
  }

  /** As high as what is written; the stylesheet has the limit. */
  #fit() {
    this.#field.style.height = "auto"; // allowed: a property, not an attribute
    this.#field.style.height = `${this.#field.scrollHeight + 2}px`;
  }

  #changed() {
    const { value } = this.#field;
    this.#fit();
    this.#send_.disabled = this.#steer.disabled = !value.trim();
    this.#hint(value);
  }

  // --- commands

  #hint(value) {
    const found = /^\/\w*$/.test(value) ? Object.keys(COMMANDS).filter((each) => each.startsWith(value) && each !== value) : [];
    this.#hints.hidden = !found.length;
    this.#marked = 0;
    this.#hints.replaceChildren(...found.map((each, at) => h("li", { role: "option", id: `agent-hint-${at}`,
      onclick: () => this.#take(each) }, h("b", {}, each), h("span", {}, COMMANDS[each]))));
    this.#markHint();
  }

  #markHint() {
    [...this.#hints.children].forEach((row, at) => mark(row, "aria-selected", at === this.#marked));
    mark(this.#field, "aria-activedescendant", this.#hints.hidden ? null : `agent-hint-${this.#marked}`);
  }

  #take(command) {
    this.#field.value = `${command} `;
    this.#changed();
    this.#field.focus();
  }

  #key(event) {
    if (inComposition(event)) return;
    const { key, shiftKey } = event;
    const hints = this.#hints.hidden ? 0 : this.#hints.childElementCount;
    if (hints && (key === "ArrowDown" || key === "ArrowUp")) {
      event.preventDefault();
      this.#marked = (this.#marked + (key === "ArrowDown" ? 1 : hints - 1)) % hints;
      this.#markHint();
    } else if (hints && (key === "Tab" || key === "Enter") && !shiftKey) {
      event.preventDefault();
      this.#take(this.#hints.children[this.#marked].querySelector("b").textContent);
    } else if (hints && key === "Escape") {
      event.preventDefault();
      this.#hints.hidden = true;
      this.#markHint();
    } else if (key === "ArrowUp" && !this.#field.value) {
      event.preventDefault();
      this.announce("up");
    } else if (key === "Enter" && !shiftKey && event.repeat) {
      event.preventDefault(); // it has sent, or completed a command
    } else if (key === "Enter" && !shiftKey) {
      event.preventDefault();
      this.#send(event.altKey ? "steer" : "queue");
    }
  }
}

customElements.define("agent-composer", AgentComposer);
