/**
 * Markdown: the server renders it, the page shows it.
 *
 * `POST /markdown` with the source answers with clean HTML. One request is under way at a time, and the next is for the
 * newest source, so a text that changes many times a second costs no queue. Until the first answer, and when there is
 * none, the source stands there as it was written; after that a text stays until its successor is ready.
 */

import { h } from "../house/house.js";
import { BoardComponent } from "./component.js";

/** @import { Board } from "../messages" */

const KEPT = 50; // rendered texts, so that a board shown anew does not blink
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
  #shown = null; // the source of what is shown
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
