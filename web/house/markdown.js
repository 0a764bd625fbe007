/**
 * Markdown as it comes, piece by piece: `const text = new MarkdownText(element); text.append("## Tit"); text.append("le\n")`.
 *
 * Blocks (paragraph, heading, list, quote, code, table, rule) are built when their last line has come, and never
 * again. Only the block that is still being written is built anew, once a frame at most; a long block of code grows at
 * its end. So a text of a hundred thousand pieces costs what its length costs.
 *
 * Nothing of the text is ever parsed as HTML: elements are made here, and their content is text. A link is one only if
 * a browser may follow it; pictures are shown as links, since to load one would tell its server that the text is read.
 *
 * It reads the Markdown that models write. It is not CommonMark: nested quotes, reference links and HTML stay text.
 */

import { safeLink } from "./bar.js";
import { h, must } from "./element.js";

/** Characters of an open paragraph after which what is there is left as it is. */
const LONGEST_OPEN = 4000;
const DEEPEST = 6;

const FENCE = /^ {0,3}(```+|~~~+)\s*([\w+#.-]{0,40})[^`]*$/;
const HEADING = /^ {0,3}(#{1,6})\s+(.*?)\s*#*\s*$/;
const RULE = /^ {0,3}([-*_])(?:\s*\1){2,}\s*$/;
const ITEM = /^(\s*)([-*+]|\d{1,9}[.)])\s+(.*)$/;
const QUOTE = /^ {0,3}>\s?(.*)$/;
const TABLE_RULE = /^\s*\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*$/;
const INLINE = /(`+)(.+?)\1(?!`)|\*\*(?=\S)(.+?)(?<=\S)\*\*|(?<!\w)__(?=\S)(.+?)(?<=\S)__(?!\w)|\*(?=[^\s*])(.+?)(?<=[^\s*])\*|(?<!\w)_(?=[^\s_])(.+?)(?<=[^\s_])_(?!\w)|~~(?=\S)(.+?)(?<=\S)~~|!?\[([^\]\n]*)\]\(\s*<?([^\s)>]+)>?(?:\s+"[^"]*")?\s*\)|<?(https?:\/\/[^\s<>"'`]*[^\s<>"'`.,;:!?)\]])>?|\\([\\`*_{}[\]()#+.!|~<>-])/s;

/** The nodes of a line of text. */
function inline(text, depth = 0) {
  const nodes = [];
  let rest = text;
  while (rest) {
    const found = depth < DEEPEST ? INLINE.exec(rest) : null;
    if (!found) break;
    if (found.index) nodes.push(rest.slice(0, found.index));
    const [whole, , code, bold, bolder, slanted, slanting, struck, label, href, bare, escaped] = found;
    if (code !== undefined) nodes.push(h("code", {}, code));
    else if (bold ?? bolder) nodes.push(h("strong", {}, ...inline(bold ?? bolder, depth + 1)));
    else if (slanted ?? slanting) nodes.push(h("em", {}, ...inline(slanted ?? slanting, depth + 1)));
    else if (struck) nodes.push(h("s", {}, ...inline(struck, depth + 1)));
    else if (href !== undefined) nodes.push(link(href, label || href, depth));
    else if (bare) nodes.push(link(bare, bare, DEEPEST));
    else nodes.push(escaped);
    rest = rest.slice(found.index + whole.length);
  }
  if (rest) nodes.push(rest);
  return nodes;
}

function link(href, label, depth) {
  const target = /^(https?:|mailto:)/i.test(href) ? (href.startsWith("mailto:") ? href : safeLink(href)) : null;
  const content = inline(label, depth + 1);
  return target ? h("a", { href: target, target: "_blank", rel: "noopener noreferrer" }, ...content) : h("span", {}, ...content);
}

/** The lines of a paragraph: a line that ends with two spaces or a backslash is broken there. */
function paragraph(lines) {
  const nodes = [];
  lines.forEach((line, at) => {
    const broken = / {2,}$|\\$/.test(line);
    const last = at === lines.length - 1;
    nodes.push(...inline(line.trim().replace(/\\$/, last ? "\\" : "")));
    if (!last) nodes.push(broken ? h("br") : "\n");
  });
  return nodes;
}

function cells(line) {
  return line.trim().replace(/^\||\|$/g, "").split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll("\\|", "|"));
}

/** The elements of these lines, which are whole blocks. */
function blocks(lines, depth = 0) {
  const made = [];
  let at = 0;
  const until = (stops) => {
    const from = at;
    while (at < lines.length && !stops(lines[at])) at += 1;
    return lines.slice(from, at);
  };
  while (at < lines.length) {
    const line = lines[at];
    const fence = FENCE.exec(line);
    if (!line.trim()) {
      at += 1;
    } else if (fence) {
      at += 1;
      const inside = until((each) => each.trim().startsWith(fence[1]) && !each.trim().slice(fence[1].length).trim());
      at += 1;
      made.push(code(fence[2], inside.join("\n")));
    } else if (HEADING.test(line)) {
      const [, signs, title] = must(HEADING.exec(line), "heading");
      made.push(h(`h${Math.min(6, signs.length + 1)}`, {}, ...inline(title)));
      at += 1;
    } else if (RULE.test(line)) {
      made.push(h("hr"));
      at += 1;
    } else if (QUOTE.test(line) && depth < DEEPEST) {
      const inside = until((each) => !QUOTE.test(each)).map((each) => must(QUOTE.exec(each), "quote")[1]);
      made.push(h("blockquote", {}, ...blocks(inside, depth + 1)));
    } else if (ITEM.test(line) && depth < DEEPEST) {
      made.push(list(until((each) => !belongs(each, line)), depth));
    } else if (line.includes("|") && lines[at + 1]?.includes("|") && TABLE_RULE.test(lines[at + 1])) {
      made.push(table(until((each) => !each.includes("|"))));
    } else {
      at += 1;
      made.push(h("p", {}, ...paragraph([line, ...until((each) => !each.trim() || begins(each))])));
    }
  }
  return made;
}

/** Whether a line begins a block in the middle of a paragraph. */
function begins(line) {
  return FENCE.test(line) || HEADING.test(line) || QUOTE.test(line) || /^ {0,3}([-*+]|1[.)])\s+\S/.test(line);
}

/** Whether a line belongs to the list that begins with this item. */
function belongs(line, first) {
  return !line.trim() || ITEM.test(line) || /^\s/.test(line) || line === first;
}

function list(lines, depth) {
  const [, indent, sign] = must(ITEM.exec(lines[0]), "list item");
  const ordered = /\d/.test(sign);
  const made = h(ordered ? "ol" : "ul");
  if (ordered && parseInt(sign, 10) !== 1) made.setAttribute("start", String(parseInt(sign, 10)));
  let inside = [];
  const close = () => {
    if (inside.length) made.append(item(inside, depth));
  };
  for (const line of lines) {
    const found = ITEM.exec(line);
    if (found && found[1].length <= indent.length + 1) {
      close();
      inside = [found[3]];
    } else {
      inside.push(line.replace(/^(\t| {1,4})/, ""));
    }
  }
  close();
  return made;
}

function item(lines, depth) {
  const [, box, first] = must(/^(?:\[([ xX])\]\s+)?(.*)$/s.exec(lines[0]), "list item");
  const rest = lines.slice(1);
  const later = rest.findIndex((line) => !line.trim() || begins(line) || ITEM.test(line));
  const own = later === -1 ? rest : rest.slice(0, later);
  const made = h("li", {}, ...paragraph([first, ...own]), ...(later === -1 ? [] : blocks(rest.slice(later), depth + 1)));
  if (box !== undefined) {
    const done = box !== " ";
    made.prepend(h("input", { type: "checkbox", checked: done, disabled: true, ariaLabel: done ? "done" : "to do" }), " ");
  }
  return made;
}

function table([head, rule, ...rows]) {
  const aligned = cells(rule).map((cell) => (/^:-+:$/.test(cell) ? "center" : /-:$/.test(cell) ? "right" : null));
  const row = (tag, line) => h("tr", {}, ...cells(line).slice(0, 50).map((cell, at) => {
    const made = h(tag, {}, ...inline(cell));
    if (aligned[at]) made.setAttribute("align", aligned[at]);
    return made;
  }));
  return h("div.table", { tabIndex: 0, role: "group", ariaLabel: "Table" },
    h("table", {}, h("thead", {}, row("th", head)), h("tbody", {}, ...rows.map((line) => row("td", line)))));
}

function code(language, text) {
  const made = h("pre", { tabIndex: 0 }, h("code", {}, text));
  if (language) made.dataset.language = language;
  return made;
}

export class MarkdownText {
  /** All of the text so far. */
  text = "";

  #place;
  /** The lines of the block that is still being written; the last one may grow. */
  #open = [""];
  /** What stands for it in the document. */
  #drawn = [];
  /** The fence of the code that is being written, and its text. */
  /** @type {string | null} */
  #fence = null;
  /** @type {{text: Text, lines: number} | null} */
  #code = null;
  /** @type {number | null} */
  #frame = null;

  /** @param {Element} place */
  constructor(place) {
    this.#place = place;
  }

  append(piece) {
    this.text += piece;
    const lines = piece.split("\n");
    this.#grow(lines[0]);
    for (const line of lines.slice(1)) {
      this.#close();
      this.#open.push("");
      this.#grow(line);
    }
    this.#frame ??= requestAnimationFrame(() => {
      this.#frame = null;
      this.#draw();
      if (!this.#code && this.#open.length === 1 && this.#open[0].length > LONGEST_OPEN) this.#leave();
    });
  }

  /** The text is whole: draws what is left. */
  end() {
    if (this.#frame !== null) cancelAnimationFrame(this.#frame);
    this.#frame = null;
    this.#draw();
    this.#settle();
  }

  #grow(text) {
    if (!text) return;
    this.#open[this.#open.length - 1] += text;
  }

  /** The last line has ended. */
  #close() {
    const line = this.#open[this.#open.length - 1];
    if (this.#fence !== null) {
      const ends = line.trim().startsWith(this.#fence) && !line.trim().slice(this.#fence.length).trim();
      if (ends) {
        this.#draw();
        this.#fence = null;
        this.#code = null;
        this.#settle();
      }
      return;
    }
    const fence = FENCE.exec(line);
    if (fence) {
      this.#open.pop();
      this.#draw();
      this.#settle();
      this.#open = [line];
      this.#fence = fence[1];
      const made = code(fence[2], "");
      this.#code = { text: made.firstChild.appendChild(document.createTextNode("")), lines: 1 };
      this.#place.append(made);
      this.#drawn = [made];
    } else if (!line.trim() && !ITEM.test(this.#open[0]) && !this.#open[0].startsWith(" ")) {
      this.#draw();
      this.#settle();
    } else if (ITEM.test(this.#open[0]) && this.#open.length > 1 && line.trim() && !belongs(line, this.#open[0])) {
      this.#open.pop(); // the list has ended with the line before
      this.#draw();
      this.#settle();
      this.#open = [line];
    }
  }

  #settle() {
    this.#drawn = [];
    this.#open = [];
  }

  #draw() {
    if (this.#code) {
      const { text, lines } = this.#code;
      const closing = this.#fence !== null && this.#open[this.#open.length - 1].trim().startsWith(this.#fence);
      const whole = this.#open.slice(lines, closing ? -1 : undefined).join("\n");
      if (whole.startsWith(text.data)) text.appendData(whole.slice(text.data.length));
      else text.data = whole;
      return;
    }
    const made = blocks(this.#open);
    for (const old of this.#drawn) old.remove();
    this.#place.append(...made);
    this.#drawn = made;
  }

  /** A very long line: what is drawn stays, and the rest goes on in a paragraph that reads on. */
  #leave() {
    const line = this.#open[0];
    const cut = line.lastIndexOf(" ") + 1 || line.length;
    for (const old of this.#drawn) old.remove();
    this.#place.append(...blocks([line.slice(0, cut)]));
    this.#drawn = [];
    this.#open = [line.slice(cut)];
  }
}

/** The same for a text that is there already. */
export function showMarkdown(place, text) {
  const shown = new MarkdownText(place);
  shown.append(text);
  shown.end();
}
