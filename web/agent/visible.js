/**
 * A text in which every character is seen. What a command does, or a file will hold, is approved by what is read; so
 * characters that show nothing, or that change how others are shown (controls, directions, joiners, odd spaces), stand
 * there as their codes. Pure but for the elements that it makes.
 */

import { h } from "../house/house.js";

/** All that is not itself when it is shown. A line feed and a tab are, where lines are. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\u2800]|(?! )\p{Zs}/gu;
const FOREIGN = /[^ -~]/;
const NAMES = new Map([
  [0, "NUL"], [7, "BEL"], [8, "BS"], [9, "TAB"], [10, "LF"], [11, "VT"], [12, "FF"], [13, "CR"], [27, "ESC"], [127, "DEL"],
  [0xa0, "NBSP"], [0xad, "SHY"], [0x200b, "ZWSP"], [0x200c, "ZWNJ"], [0x200d, "ZWJ"], [0x200e, "LRM"], [0x200f, "RLM"],
  [0x202a, "LRE"], [0x202b, "RLE"], [0x202c, "PDF"], [0x202d, "LRO"], [0x202e, "RLO"], [0x2066, "LRI"], [0x2067, "RLI"],
  [0x2068, "FSI"], [0x2069, "PDI"], [0xfeff, "BOM"],
]);

/** Such as U+202E RLO. */
function codeOf(character) {
  const number = character.codePointAt(0);
  const code = `U+${number.toString(16).toUpperCase().padStart(4, "0")}`;
  return NAMES.has(number) ? `${code} ${NAMES.get(number)}` : code;
}

/**
 * @param {string} text
 * @param {{lines?: boolean, ends?: boolean}} options lines: a line feed begins a line, and a tab is as wide as one; ends:
 *   what ends a line is shown as well, where that is no matter of course
 * @returns {(string | HTMLElement)[]}
 */
export function visible(text, { lines = false, ends = false } = {}) {
  /** @type {(string | HTMLElement)[]} */
  const shown = [];
  let at = 0;
  for (const found of text.matchAll(UNSEEN)) {
    const [character] = found;
    if (lines && (character === "\t" || (character === "\n" && !ends))) continue;
    if (found.index > at) shown.push(text.slice(at, found.index));
    shown.push(h("span.code", {}, codeOf(character)));
    if (lines && character === "\n") shown.push("\n");
    at = found.index + character.length;
  }
  if (at < text.length) shown.push(text.slice(at));
  return shown;
}

/** The same as a text alone, where there is no room for more. */
export function inCodes(text) {
  return text.replace(UNSEEN, (character) => `[${codeOf(character)}]`);
}

/** What a reader should know of a text before it is believed; "" if there is nothing. */
export function warningOf(text) {
  const unseen = new Set([...text.matchAll(UNSEEN)].map(([character]) => character).filter((each) => each !== "\t"));
  const lines = unseen.delete("\n");
  const foreign = FOREIGN.test(text.replace(UNSEEN, ""));
  return [
    lines ? "It has more than one line." : "",
    unseen.size ? "It has characters that cannot be seen; their codes stand in their places." : "",
    foreign ? "It has letters or signs beside those of plain English, which may look like others." : "",
  ].filter(Boolean).join(" ");
}

/** Words of a command, each in quotes where its bounds would not be seen. */
export function inQuotes(words) {
  return words.map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)).join(" ");
}
