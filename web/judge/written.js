/**
 * Shows one line of a text, with its blanks made visible.
 *
 * The stylesheet draws the signs for blanks over the real characters, so selecting and copying gives the program's
 * text. Invisible characters (a carriage return, a no-break space, a mark that changes the direction of the text) are
 * always shown by their number.
 */

import { h } from "../house/house.js";

const BEFORE = 200; // characters that are shown before the first difference, if it is far from the beginning
const ODD = "\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u00a0\\u00ad\\u061c\\u200b-\\u200f\\u2028-\\u202f\\u205f-\\u206f" +
  "\\u3000\\ufeff";
const PIECES = new RegExp(`( +)|(\\t)|([${ODD}])|[^ \\t${ODD}]+`, "g");

/**
 * `stretches` [[from, to]] are marked as differing. `blanks` says whether all blanks are made visible, or only those at
 * the end of the line. `longest` is how many characters are shown. Returns nodes.
 *
 * @param {string} text
 * @param {{stretches?: number[][], blanks?: boolean, longest?: number}} how
 */
export function written(text, { stretches = [], blanks = false, longest = Infinity } = {}) {
  const far = stretches[0]?.[0] ?? 0;
  const from = text.length > longest && far > longest - BEFORE ? far - BEFORE : 0;
  const to = Math.min(text.length, from + longest);
  const shownFrom = blanks ? 0 : text.trimEnd().length;
  const nodes = [];
  if (from > 0) nodes.push(left(from));
  let at = from;
  for (const [begin, end] of stretches) {
    if (end <= at || begin >= to) continue;
    nodes.push(...plain(text, at, Math.max(at, begin), shownFrom));
    nodes.push(h("mark.differs", {}, ...plain(text, Math.max(at, begin), Math.min(end, to), 0)));
    at = Math.min(end, to);
  }
  nodes.push(...plain(text, at, to, shownFrom));
  if (to < text.length) nodes.push(left(text.length - to));
  return nodes;
}

function left(count) {
  return h("span.left", {}, `… ${count.toLocaleString("en")} more characters `);
}

const numberOf = (character) => `U+${character.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}`;

function plain(text, from, to, shownFrom) {
  const nodes = [];
  const add = (node) => {
    if (typeof node === "string" && typeof nodes.at(-1) === "string") nodes.push(nodes.pop() + node);
    else nodes.push(node);
  };
  for (const { 0: found, 1: spaces, 2: tab, 3: odd, index } of text.slice(from, to).matchAll(PIECES)) {
    const shown = from + index >= shownFrom;
    if (odd) add(h("span.odd", { "data-sign": numberOf(odd) }, odd));
    else if (spaces && shown) add(h("span.blank", { "data-sign": "·".repeat(spaces.length) }, spaces));
    else if (tab && shown) add(h("span.blank", { "data-sign": "→" }, tab));
    else add(found);
  }
  return nodes;
}
