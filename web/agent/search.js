/**
 * <agent-search>: a search through the chosen folder, over the page. What is found is shown as it is typed, the best
 * first: where it is, why it was found, and some of its lines as they are on the disk now. Enter, or a click, puts the
 * place into the message; Alt+Enter copies it. Of a text that is too long, such as a stack trace, both ends are searched
 * for: one of them says what has happened.
 *
 * The field keeps the focus, and the arrows move through what is found (a list with one chosen entry).
 * Events: "ask" {words, kind}, "take" {path, line}, "copy" {place}, "closed".
 */

import { HouseElement, format, h, icon, inComposition, mark, put } from "../house/house.js";
import { visible } from "./visible.js";

/** @typedef {{path: string, first_line: number, last_line: number, symbol: string, kind: string, reasons: {said: string}[], lines: {number: number, text: string}[]}} Found */

/** @type {[kind: string, word: string][]} */
const KINDS = [["all", "All"], ["symbols", "Definitions"], ["text", "Text"]];
const MOST_REASONS = 3;
const MOST_LINES = 5;
/** Characters, of what is searched for; and of it as it stands in an address. */
const LONGEST = 2000;
const LONGEST_WRITTEN = 6000;
/** In which a word may end beside its stem. */
const ENDINGS = "ations?|ings?|ers?|ed|es|s|e";
const ENDING = new RegExp(`(?<=.{3})(?:${ENDINGS})$`, "u");
/** Milliseconds after which what is shown is said to be no answer yet to what is written. */
const LATE = 300;

class AgentSearch extends HouseElement {
  #field = h("input", { type: "search", ariaLabel: "Search this folder", placeholder: "Words, names, or a question",
    autocomplete: "off", spellcheck: false, role: "combobox", ariaExpanded: "true", ariaAutoComplete: "list" });
  #kinds = h("fieldset.kinds", {}, h("legend.unseen", {}, "What is searched"), ...KINDS.map(([kind, word], at) =>
    h("label", {}, h("input", { type: "radio", name: "search-kind", value: kind, checked: !at }), h("span", {}, word))));
  #meter = h("progress", { max: 1, ariaLabel: "How much of the folder is in the index", hidden: true });
  #index = h("p.index", { role: "status" });
  #said = h("p.said", { role: "status" });
  #list = h("ul.found", { id: "agent-found", role: "listbox", ariaLabel: "What was found" });
  #dialog = h("dialog", { ariaLabel: "Search" },
    h("header", {}, h("h2", {}, "Search"), h("button.quiet", { type: "button", title: "Close", ariaLabel: "Close",
      onclick: () => this.#dialog.close() }, icon("cross"))),
    h("div.asked", {}, this.#field, this.#kinds), this.#meter, this.#index, this.#said, this.#list);
  /** @type {Found[]} */
  #found = [];
  #at = 0;
  /** The words of which `#found` is the answer. */
  #shownFor = "";
  /** What Enter wanted before the answer to what is written was there. @type {"take" | "copy" | null} */
  #early = null;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #late;

  build() {
    this.append(this.#dialog);
    this.#field.setAttribute("aria-controls", this.#list.id);
    this.#field.addEventListener("input", () => this.#ask());
    this.#field.addEventListener("keydown", (event) => this.#key(event));
    this.#field.addEventListener("paste", (event) => this.#pasted(event));
    this.#kinds.addEventListener("change", () => {
      this.#shownFor = ""; // what is shown is of another kind
      this.#ask();
    });
    this.#list.addEventListener("click", (event) => this.#clicked(event));
    this.#dialog.addEventListener("close", () => {
      this.#answered();
      this.announce("closed");
    });
    this.#dialog.addEventListener("click", (event) => event.target === this.#dialog && this.#dialog.close());
  }

  get isOpen() {
    return this.#dialog.open;
  }

  get words() {
    return askedWords(this.#field.value.trim()).words;
  }

  get kind() {
    return /** @type {HTMLInputElement} */ (this.#kinds.querySelector("input:checked")).value;
  }

  open() {
    if (this.#dialog.open) return;
    this.#dialog.showModal();
    this.#field.focus();
    this.#field.select();
    this.#ask();
  }

  close() {
    this.#dialog.close();
  }

  /** How far the index is; null: nobody knows. @param {any} status */
  showIndex(status) {
    const making = status?.index_status === "indexing" || status?.index_status === "pending";
    this.#meter.hidden = !making;
    if (making && status.total_files) this.#meter.value = status.index_progress;
    else this.#meter.removeAttribute("value");
    put(this.#index, status ? indexSentence(status) : "");
    mark(this.#index, "title", status?.errors?.join("\n") || null);
  }

  /** @param {{query: string, results: Found[], words: string[], message: string, milliseconds: number, complete: boolean}} answer */
  show({ query, results, words: sought, message, milliseconds }) {
    this.#answered();
    const again = query === this.#shownFor;
    const chosen = again ? this.#found[this.#at] : null;
    const kept = chosen ? results.findIndex(({ path, symbol, first_line: line }) => path === chosen.path && symbol === chosen.symbol
      && (symbol || line === chosen.first_line)) : -1;
    this.#found = results;
    this.#at = Math.max(0, kept);
    const { words, cut } = askedWords(this.#field.value.trim());
    const form = formOf(sought.length ? sought : words.split(/[^\p{L}\p{N}_]+/u));
    this.#list.replaceChildren(...results.map((found, at) => this.#row(found, at, form)));
    const count = `${results.length === 1 ? "1 place" : `${format.count(results.length)} places`} in ${Math.max(1, Math.round(milliseconds))} ms`;
    put(this.#said, [results.length ? count : message || "Nothing was found.", results.length ? message : "", cut].filter(Boolean).join(" · "));
    this.#said.classList.remove("wrong");
    this.#shownFor = query;
    this.#mark();
    if (!again) this.#list.scrollTop = 0;
    const early = query === words ? this.#early : null;
    this.#early = null;
    if (early) this.#take(0, early === "copy");
  }

  /** Nothing is asked for. */
  clear() {
    this.#answered();
    this.#shownFor = "";
    this.#found = [];
    this.#list.replaceChildren();
    put(this.#said, "");
    this.#mark();
  }

  refused(sentence) {
    this.#answered();
    this.#found = [];
    this.#list.replaceChildren();
    put(this.#said, sentence);
    this.#said.classList.add("wrong");
    this.#mark();
  }

  /** @param {Found} found @param {number} at @param {RegExp | null} form of what is marked */
  #row(found, at, form) {
    const { path, first_line: line, symbol, kind, reasons, lines } = found;
    const slash = path.lastIndexOf("/") + 1;
    return h("li", { id: `agent-found-${at}`, role: "option", "data-at": String(at), "data-key": `found ${path}:${line}:${symbol}` },
      h("div.place", {}, h("span.path", { title: path }, h("span.folder", {}, ...visible(path.slice(0, slash))), h("b", {}, ...visible(path.slice(slash))), `:${line}`),
        symbol ? h("span.symbol", {}, kind ? h("span.kind", {}, kind) : "", h("code", {}, symbol)) : ""),
      lines.length ? h("pre", {}, ...outdented(lines.slice(0, MOST_LINES)).map(({ number, text }) =>
        h("span.line", {}, h("span.number", { ariaHidden: "true" }, String(number)), ...marked(text, form)))) : "",
      reasons.length ? h("p.why", {}, reasons.slice(0, MOST_REASONS).map(({ said }) => said).join(" · ")) : "");
  }

  #answered() {
    clearTimeout(this.#late);
    this.#list.ariaBusy = "false";
  }

  #ask() {
    this.#early = null;
    this.#answered();
    this.#late = setTimeout(() => {
      this.#list.ariaBusy = "true";
      put(this.#said, "Searching…");
      this.#said.classList.remove("wrong");
    }, LATE);
    this.announce("ask", { words: this.words, kind: this.kind });
  }

  /** Lines stay apart: a field of one line would join the last word of each to the first of the next. @param {ClipboardEvent} event */
  #pasted(event) {
    const text = event.clipboardData?.getData("text/plain") ?? "";
    if (!/[\r\n]/.test(text)) return;
    event.preventDefault();
    document.execCommand("insertText", false, text.trim().split(/\s*[\r\n]+\s*/).join(" "));
  }

  #key(event) {
    if (inComposition(event)) return;
    const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 5, PageUp: -5 }[event.key];
    if (step) {
      event.preventDefault();
      this.#at = Math.min(Math.max(this.#at + step, 0), Math.max(0, this.#found.length - 1));
      this.#mark();
      this.#list.children[this.#at]?.scrollIntoView({ block: "nearest" });
    } else if (event.key === "Escape") {
      event.preventDefault(); // the browser would only empty the field
      this.#dialog.close();
    } else if (event.key === "Enter") {
      event.preventDefault();
      if (this.words === this.#shownFor) this.#take(this.#at, event.altKey);
      else this.#early = event.altKey ? "copy" : "take";
    }
  }

  #clicked(event) {
    if (getSelection()?.toString()) return; // somebody copies a part of it
    const at = event.target.closest("li")?.dataset.at;
    if (at !== undefined) this.#take(Number(at), event.altKey);
  }

  #take(at, copy) {
    const found = this.#found[at];
    if (!found) return;
    const { path, first_line: line } = found;
    if (copy) this.announce("copy", { place: `${path}:${line}` });
    else this.announce("take", { path, line });
  }

  #mark() {
    [...this.#list.children].forEach((row, at) => mark(row, "aria-selected", String(at === this.#at)));
    mark(this.#field, "aria-activedescendant", this.#found.length ? `agent-found-${this.#at}` : null);
  }
}

/** As much of it as may be asked, and a sentence if that is not all. @param {string} text */
function askedWords(text) {
  const letters = [...text.toWellFormed()];
  const written = letters.map((letter) => encodeURIComponent(letter).length);
  const all = written.reduce((sum, each) => sum + each, 0);
  if (letters.length <= LONGEST && all <= LONGEST_WRITTEN) return { words: letters.join(""), cut: "" };
  const first = fitting(written);
  const last = fitting(written.toReversed());
  const words = `${letters.slice(0, first).join("")} ${letters.slice(-last).join("")}`;
  return { words, cut: `Only the first ${format.count(first)} and the last ${format.count(last)} characters are searched for.` };
}

/** How many of these letters fit into half of what may be asked. @param {number[]} written */
function fitting(written) {
  let room = LONGEST_WRITTEN / 2 - 2; // less half of the blank between
  let count = 0;
  while (count < (LONGEST - 1) >> 1 && (room -= written[count]) >= 0) count++;
  return count;
}

/** Without the blanks that all of them begin with. @param {{number: number, text: string}[]} lines */
function outdented(lines) {
  const depths = lines.filter(({ text }) => text.trim()).map(({ text }) => text.length - text.trimStart().length);
  const depth = Math.min(...depths);
  return lines.map(({ number, text }) => ({ number, text: text.slice(depth) || " " }));
}

/** Of words in any of their usual forms. Short ones count only as whole words, or whole parts of a name. @param {string[]} words */
function formOf(words) {
  const each = words.filter((word) => word.length > 1).sort((one, other) => other.length - one.length).map((word) => {
    const stem = word.length > 4 ? word.replace(ENDING, "") : word;
    const form = stem.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
    return word.length > 3 ? `${form}(?:${ENDINGS})?` : form;
  });
  return each.length ? new RegExp(`(${each.join("|")})`, "giu") : null;
}

/** With what is looked for. @param {string} text @param {RegExp | null} form */
function marked(text, form) {
  if (!form) return visible(text, { lines: true });
  const parts = text.split(form);
  return parts.flatMap((part, at) => {
    const goesOn = /^\p{Ll}/u.test(parts[at + 1]) || (/^\p{Ll}/u.test(part) && /\p{L}$/u.test(parts[at - 1]));
    return at % 2 && (part.length > 3 || !goesOn) ? [h("mark", {}, part)] : visible(part, { lines: true });
  });
}

/** @param {any} status */
function indexSentence({ index_status: state, indexed_files: read, total_files: all, errors, message }) {
  const files = (count) => (count === 1 ? "1 file" : `${format.count(count)} files`);
  if (state === "failed") return errors[0] ?? "The index cannot be made: searches read the files.";
  if (state === "ready") return [`${files(read)} in the index.`, message, errors.length ? errors[0] : ""].filter(Boolean).join(" ");
  return all ? `The index is being made: ${format.count(read)} of ${files(all)}.` : "The index is being made.";
}

customElements.define("agent-search", AgentSearch);
