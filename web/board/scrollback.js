/**
 * A scrollback: text that grows at its end and is dropped at its beginning.
 *
 * The text is kept in blocks of some lines. Each block is one text node in an element of its own: appending lengthens
 * one node, dropping removes one element, and blocks out of sight cost no layout (`content-visibility`). A block ends
 * where a line ends, so the blocks, one below the other, look like one text.
 */

import { h } from "../house/house.js";

const BLOCK_LINES = 100;
const MOST_LINES = 10_000;
const MOST_CHARACTERS = 4_000_000;

function countLines(text) {
  let lines = 0;
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) lines += 1;
  return lines;
}

export class Scrollback {
  element = h("div.text");
  /** Whether text was dropped at the beginning. */
  shortened = false;

  #blocks = []; // {element, node, lines, length}; the last one is still growing
  #lines = 0;
  #length = 0;

  get text() {
    return this.#blocks.map(({ node }) => node.data).join("");
  }

  clear() {
    this.element.replaceChildren();
    this.#blocks = [];
    this.#lines = this.#length = 0;
    this.shortened = false;
  }

  append(text) {
    let rest = this.#newest(text);
    while (rest) {
      const block = this.#growing();
      const part = headOf(rest, BLOCK_LINES - block.lines);
      const lines = countLines(part);
      block.node.appendData(part);
      block.lines += lines;
      block.length += part.length;
      this.#lines += lines;
      this.#length += part.length;
      rest = rest.slice(part.length);
    }
    while (this.#blocks.length > 1 && (this.#lines > MOST_LINES || this.#length > MOST_CHARACTERS)) this.#forget();
  }

  /** The end of a text, as much as can be kept. The rest would be dropped at once, and need not be laid out. */
  #newest(text) {
    if (text.length <= MOST_CHARACTERS) return text;
    this.shortened = true;
    return text.slice(-MOST_CHARACTERS);
  }

  #growing() {
    const last = this.#blocks.at(-1);
    if (last && last.lines < BLOCK_LINES) return last;
    const node = document.createTextNode("");
    const block = { element: h("div.block", {}, node), node, lines: 0, length: 0 };
    this.#blocks.push(block);
    this.element.append(block.element);
    return block;
  }

  #forget() {
    const { element, lines, length } = this.#blocks.shift();
    element.remove();
    this.#lines -= lines;
    this.#length -= length;
    this.shortened = true;
  }
}

/** The first `lines` lines of a text, with their newlines; the whole text if it has fewer. */
function headOf(text, lines) {
  let at = -1;
  for (let line = 0; line < lines; line += 1) {
    at = text.indexOf("\n", at + 1);
    if (at === -1) return text;
  }
  return text.slice(0, at + 1);
}
