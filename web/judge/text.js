/**
 * <judge-text label="Input">: a text with its name, its size, and a button that copies it.
 * `text.show({source, rows})`: `source` is {text, size (bytes of the whole text, null if `text` is the whole), cut}.
 * `rows` is the argument of `lines.show`; without it, the lines of the text are shown.
 * Announces "whole" when the user wants the rest of a text that was cut, and "clip" with the text to copy, or null if
 * it has to be fetched first.
 */

import { HouseElement, format, h, icon, put } from "../house/house.js";
import { linesOf } from "./difference.js";
import { written } from "./written.js";
import "./lines.js";

/**
 * The element of one line. `number` counts from 1; null for a line that only the other side has.
 *
 * @param {{number: number | null, text?: string, end?: string, tone?: string | null, stretches?: number[][],
 *   blanks?: boolean, longest?: number}} said
 */
export function line({ number, text = "", end = "", tone = null, stretches, blanks = false, longest }) {
  const row = h("div.line", { "data-number": number ?? "", "data-tone": tone, "data-end": end || null });
  if (number === null) row.classList.add("none");
  row.append(...written(text, { stretches, blanks, longest }));
  if (blanks) row.classList.add("blanks");
  if (end === "none") row.append(h("span.remark", { "data-sign": "no newline at end" }));
  return row;
}

/** How line `at` of a text ends: "newline", "none" if it is the last line and has no newline, or "cut". */
export function endOf({ lines, ended, cut }, at) {
  if (at < lines.length - 1 || ended) return "newline";
  return cut ? "cut" : "none";
}

class JudgeText extends HouseElement {
  lines = h("judge-lines");

  #source = { text: "", size: null, cut: false };
  #asked = false; // whether the whole text was asked for
  #size = h("span.size");
  #all = h("button.link", { type: "button", onclick: () => this.#ask() }, "Show all");
  #copy = h("button.quiet", { type: "button", onclick: () => this.copy() }, icon("copy"));
  #empty = h("p.nothing", {}, "empty");

  build() {
    const label = this.getAttribute("label") ?? "Text";
    this.#copy.title = this.#copy.ariaLabel = `Copy ${label.toLowerCase()}`;
    this.#all.ariaLabel = `Show all of ${label.toLowerCase()}`;
    this.lines.ariaLabel = label;
    this.append(h("header", {}, h("h3", {}, label), this.#size, this.#all, this.#copy), this.lines, this.#empty);
  }

  show({ source, rows = null, blanks = false }) {
    this.#source = source;
    const known = rows ?? plainRows(linesOf(source.text, source.cut), blanks);
    this.lines.hidden = known.count === 0;
    this.#empty.hidden = known.count > 0;
    const refused = this.#asked && source.cut;
    this.#asked = false;
    this.#all.hidden = !source.cut || refused;
    put(this.#size, sizeOf(source) + (refused ? "; the server has no more" : ""));
    this.lines.show(known);
  }

  /** Copies the whole text, or, if it cannot be fetched, the part that is shown. */
  copy() {
    const fetched = !this.#source.cut || this.#all.hidden;
    this.#asked ||= !fetched;
    this.announce("clip", fetched ? this.#source.text : null);
  }

  #ask() {
    this.#asked = true;
    this.announce("whole");
  }
}

function sizeOf({ text, size, cut }) {
  if (cut) return `the first ${format.bytes(new Blob([text]).size)} of ${format.bytes(size)}`;
  return size !== null && size > 2_000 ? format.bytes(size) : "";
}

/** The argument of `lines.show`, for all lines of a text as they are. */
export function plainRows(content, blanks) {
  const { lines } = content;
  return {
    count: lines.length,
    row: (at, longest) => line({ number: at + 1, text: lines[at], end: endOf(content, at), blanks, longest }),
  };
}

customElements.define("judge-text", JudgeText);
