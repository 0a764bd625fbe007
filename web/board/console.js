/**
 * A console: a stream of text, and an input line for answers.
 *
 * Appended text continues the existing text: a new line begins only after a newline character. The end stays in sight
 * unless the reader has scrolled up; then a button says that there is more below.
 */

import { h, icon, inComposition } from "../house/house.js";
import { BoardComponent } from "./component.js";
import { Scrollback } from "./scrollback.js";

/** @import { Board } from "../messages" */

const NEAR = 24; // pixels from the end that still count as the end

export class BoardConsole extends BoardComponent {
  #pending = [];
  #clear = false;
  #atEnd = true;
  #scrollback = new Scrollback();
  #dropped = h("p.dropped", { hidden: true }, "Earlier lines are no longer kept.");
  #log = h("div.log", { tabIndex: 0, role: "log", ariaLabel: "Console" }, this.#dropped, this.#scrollback.element);
  #more = h("button.more", { type: "button", hidden: true, onclick: () => this.#toEnd() }, icon("down"), "Latest");
  #input = h("input", { type: "text", autocomplete: "off", spellcheck: false, ariaLabel: "Console input" });
  #form = h("form", {}, this.#input, h("button", { type: "submit" }, "Send"));
  #resize = new ResizeObserver(() => this.#atEnd && this.#toEnd());

  actions = {
    append: (/** @type {Board.Text} */ { text }) => this.#append(text),
    clear: () => {
      this.#clear = true;
      this.#pending = [];
      this.soil();
    },
  };

  /** @param {Board.ConsoleSpawn} payload */
  spawn({ showInput, text }) {
    this.#log.onscroll = () => this.#scrolled();
    this.#log.oncopy = (event) => this.#copy(event);
    this.#form.onsubmit = (event) => this.#submit(event);
    this.#input.placeholder = "Type here, then Enter";
    this.#input.addEventListener("keydown", (event) => {
      if (event.key === "Enter" && inComposition(event)) event.preventDefault();
    });
    this.append(h("div.screen", {}, this.#log, this.#more), ...(showInput ? [this.#form] : []));
    if (text) this.#append(text);
  }

  connected() {
    this.#resize.observe(this.#scrollback.element);
    this.#resize.observe(this.#log);
  }

  disconnected() {
    this.#resize.disconnect();
  }

  #append(text) {
    this.#pending.push(String(text));
    this.soil();
  }

  paint() {
    if (this.#clear) {
      this.#scrollback.clear();
      this.#clear = false;
      this.#atEnd = true;
    }
    if (this.#pending.length) {
      this.#scrollback.append(this.#pending.join("").replaceAll("\r\n", "\n"));
      this.#pending = [];
    }
    this.#dropped.hidden = !this.#scrollback.shortened;
    if (this.#atEnd) this.#toEnd();
    else this.#more.hidden = false;
  }

  // --- the reader

  #scrolled() {
    const { scrollTop, scrollHeight, clientHeight } = this.#log;
    this.#atEnd = scrollHeight - scrollTop - clientHeight < NEAR;
    if (this.#atEnd) this.#more.hidden = true;
  }

  #toEnd() {
    this.#atEnd = true;
    this.#more.hidden = true;
    this.#log.scrollTop = this.#log.scrollHeight;
  }

  /** Copies the text as it was written. (The browser would copy its blocks as paragraphs.) */
  #copy(event) {
    const selection = getSelection();
    if (!selection || selection.rangeCount === 0 || !this.#scrollback.element.contains(selection.anchorNode)) return;
    event.clipboardData.setData("text/plain", selection.getRangeAt(0).cloneContents().textContent);
    event.preventDefault();
  }

  #submit(event) {
    event.preventDefault();
    const { value } = this.#input;
    if (value.trim() && this.event({ event: "submit", value })) this.#input.value = "";
  }

  // --- keep and resume

  state() {
    return { showInput: this.#form.isConnected, text: this.#scrollback.text };
  }

  keep() {
    const { value } = this.#input;
    const focused = document.activeElement === this.#input;
    const { selectionStart, selectionEnd } = this.#input;
    return { value, focused, selectionStart, selectionEnd, scrollTop: this.#atEnd ? null : this.#log.scrollTop };
  }

  resume({ value, focused, selectionStart, selectionEnd, scrollTop }) {
    this.#input.value = value;
    if (focused && this.#form.isConnected) {
      this.#input.focus({ preventScroll: true });
      this.#input.setSelectionRange(selectionStart, selectionEnd);
    }
    if (scrollTop === null) return;
    this.#atEnd = false;
    this.#log.scrollTop = scrollTop;
  }
}

customElements.define("board-console", BoardConsole);
