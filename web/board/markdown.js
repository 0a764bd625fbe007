/**
 * Markdown: the server renders it, the page shows it.
 *
 * The answer to `POST /markdown` with the source is clean HTML. Only one request is under way at a time, and the next
 * one is for the newest source, so a text that changes many times a second makes no queue. Until the first answer, or
 * if there is none, the source is shown as it was written. After that, a text stays until the next one is ready.
 */

import { h } from "../house/house.js";
import { BoardComponent } from "./component.js";

/** @import { Board } from "../messages" */

const KEPT = 50; // rendered texts that are kept, so that a board that is shown anew does not flicker
const rendered = new Map();

async function render(source) {
  if (rendered.has(source)) return rendered.get(source);
  const headers = { "Content-Type": "text/markdown; charset=utf-8" };
  const answer = await fetch("/markdown", { method: "POST", headers, body: source });
  if (!answer.ok) throw new Error(`The server answered ${answer.status}.`);
  const html = await answer.text();
  rendered.set(source, html);
  if (rendered.size > KEPT) rendered.delete(rendered.keys().next().value);
  return html;
}

export class BoardMarkdown extends BoardComponent {
  #source = "";
  #shown = null; // the source of the text that is shown
  #asking = false;
  #prose = h("house-prose");
  actions = { setSource: (/** @type {Board.Source} */ { source }) => this.#set(source) };

  /** @param {Board.MarkdownSpawn} payload */
  spawn({ initialSource }) {
    this.append(this.#prose);
    this.#set(initialSource);
  }

  #set(source) {
    this.#source = String(source ?? "");
    this.soil();
  }

  paint() {
    if (this.#source === this.#shown) return;
    const html = rendered.get(this.#source);
    if (html !== undefined) this.#show(this.#source, html);
    else {
      if (this.#shown === null) this.#prose.source = this.#source;
      this.#ask();
    }
  }

  async #ask() {
    if (this.#asking) return;
    this.#asking = true;
    const source = this.#source;
    try {
      this.#show(source, await render(source));
    } catch {
      this.#shown = null;
      this.#prose.source = source;
      if (source === this.#source) return;
    } finally {
      this.#asking = false;
    }
    if (source !== this.#source) this.soil();
  }

  #show(source, html) {
    this.#shown = source;
    this.#prose.html = html;
  }

  state() {
    return { source: this.#source };
  }
}

customElements.define("board-markdown", BoardMarkdown);
