/**
 * <code-editor>: a plain text area that behaves like an editor. Tab indents the selection and Shift+Tab reverses that,
 * Enter keeps the indentation, Ctrl+Enter announces "run". Escape and then Tab leave it, so keyboard users are not
 * trapped. Lines are numbered; `editor.point(line)` shows where something went wrong.
 */

import { HouseElement, h, inComposition, put } from "../house/house.js";

const STEP = "    ";

class CodeEditor extends HouseElement {
  #leaving = false;
  #numbers = h("div.numbers", { ariaHidden: "true" });
  #mark = h("div.fault", { hidden: true });
  #area = h("textarea", {
    spellcheck: false,
    autocomplete: "off",
    autocapitalize: "off",
    wrap: "off",
    ariaLabel: "Python",
    title: "Escape, then Tab leaves the editor",
  });

  build() {
    this.#area.oninput = () => this.#changed();
    this.#area.onscroll = () => this.#follow();
    this.#area.onkeydown = (event) => this.#key(event);
    this.append(this.#numbers, this.#mark, this.#area);
    this.#number();
  }

  get source() {
    return this.#area.value;
  }

  set source(text) {
    this.#area.value = text;
    this.#number();
    this.point(null);
  }

  point(line) {
    this.#mark.hidden = line === null;
    if (line === null) return;
    this.#mark.style.setProperty("--line", String(line - 1));
    const height = parseFloat(getComputedStyle(this.#area).lineHeight);
    const top = (line - 1) * height;
    if (top < this.#area.scrollTop || top > this.#area.scrollTop + this.#area.clientHeight - 2 * height) {
      this.#area.scrollTop = top - this.#area.clientHeight / 3;
    }
    this.#follow();
  }

  #changed() {
    this.#number();
    this.point(null);
    this.announce("change", this.source);
  }

  #number() {
    const lines = this.source.split("\n").length;
    put(this.#numbers, Array.from({ length: lines }, (_, index) => index + 1).join("\n"));
    this.#follow();
  }

  #follow() {
    this.style.setProperty("--scrolled", `${this.#area.scrollTop}px`);
  }

  #key(event) {
    const { key, shiftKey, ctrlKey, metaKey, altKey } = event;
    if (inComposition(event)) return;
    const leaving = this.#leaving;
    this.#leaving = key === "Escape" || (leaving && key === "Shift");
    if (altKey) return;
    if (ctrlKey || metaKey) {
      if (key !== "Enter") return;
      this.announce("run");
    } else if (key === "Tab" && !leaving) {
      if (shiftKey) this.#outdent();
      else this.#indent();
    } else if (key === "Enter" && !shiftKey) this.#continue();
    else return;
    event.preventDefault();
  }

  /** Inserts a text as if it were typed, so that it can be undone. */
  #type(text) {
    if (!document.execCommand("insertText", false, text)) {
      this.#area.setRangeText(text, this.#area.selectionStart, this.#area.selectionEnd, "end");
      this.#changed();
    }
  }

  /** The whole lines that are selected: [start, end, lines]. */
  #lines() {
    const { selectionStart, selectionEnd, value } = this.#area;
    const start = value.lastIndexOf("\n", selectionStart - 1) + 1;
    const last = selectionEnd > selectionStart && value[selectionEnd - 1] === "\n" ? selectionEnd - 1 : selectionEnd;
    const end = value.indexOf("\n", last) === -1 ? value.length : value.indexOf("\n", last);
    return [start, end, value.slice(start, end).split("\n")];
  }

  #replace([start, end], lines) {
    const text = lines.join("\n");
    if (text === this.#area.value.slice(start, end)) return;
    this.#area.setSelectionRange(start, end);
    if (text) this.#type(text);
    else document.execCommand("delete");
    this.#area.setSelectionRange(start, start + text.length);
  }

  #indent() {
    const { selectionStart, selectionEnd, value } = this.#area;
    if (value.slice(selectionStart, selectionEnd).includes("\n")) {
      const [start, end, lines] = this.#lines();
      this.#replace([start, end], lines.map((line) => (line ? STEP + line : line)));
      return;
    }
    const column = selectionStart - (value.lastIndexOf("\n", selectionStart - 1) + 1);
    this.#type(" ".repeat(STEP.length - (column % STEP.length)));
  }

  #outdent() {
    const { selectionStart, selectionEnd } = this.#area;
    const [start, end, lines] = this.#lines();
    const shorter = lines.map((line) => line.replace(/^(?: {1,4}|\t)/, ""));
    this.#replace([start, end], shorter);
    if (selectionStart === selectionEnd) {
      const at = Math.max(start, selectionStart - (lines[0].length - shorter[0].length));
      this.#area.setSelectionRange(at, at);
    }
  }

  #continue() {
    const { selectionStart, value } = this.#area;
    const before = value.slice(value.lastIndexOf("\n", selectionStart - 1) + 1, selectionStart);
    const [indent] = /^[ \t]*/.exec(before) ?? [""];
    this.#type(`\n${indent}${/:\s*(#.*)?$/.test(before) ? STEP : ""}`);
  }
}

customElements.define("code-editor", CodeEditor);
