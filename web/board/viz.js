/**
 * Variables as trees that unfold.
 *
 * Rules
 *   - Folded items are not in the document. A change to one of them highlights the innermost row that is.
 *   - A row is highlighted for 1.5 seconds, long enough to be seen. A value that changes all the time stays
 * highlighted.
 *   - The reader chooses what is unfolded, by position and not by value: a list whose items change stays as open as it
 *     was. A variable that is not too long starts unfolded, and the values inside it start folded. A long text starts
 *     folded, too.
 *   - The type stands behind its value, on the value's last line.
 */

import { h, icon, mark, put } from "../house/house.js";
import { BoardComponent } from "./component.js";
import { change, inside, isContainer, isObject, isSequence, short, word } from "./values.js";

/** @import { Board } from "../messages" */

const LIT = 1500;
const MOST_ROWS = 1000; // of one container
const LONG = 30; // a variable with more items than this starts folded
const LONG_TEXT = 100; // of a value with more characters than this, only the beginning is in its row
const SIGNS = { recursive_ref: "again", error: "alarm" };
const tones = { str: "text", int: "number", float: "number", bool: "truth", NoneType: "none" };

/** One row, and the rows below it while it is unfolded. */
class Row {
  #node = null;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #lit;
  #below = [];
  #open;
  #opened; // the viz's map of the places that were unfolded, by path
  #place;
  #rest = h("p.rest");
  #items = h("ul");
  #name = h("span.name");
  #type = h("span.type");
  #watched = h("span.watched", { title: "Observed: follows every change", ariaLabel: "observed" }, icon("eye"));
  #value = h("span.value");
  #space = document.createTextNode(""); // a no-break space: a value and its type stay together
  #entry = h("button.entry", { type: "button", onclick: () => this.#turn() });
  element = h("li", {}, this.#entry);

  constructor(place, opened, open) {
    this.#place = place;
    this.#opened = opened;
    this.#open = opened.get(place) ?? open;
    const what = h("span.what", {}, this.#value, this.#space, this.#watched, this.#type);
    this.#entry.append(icon("twist"), this.#name, what);
  }

  /** `lit`: the nodes that have just changed. */
  show(label, node, lit) {
    this.#node = node;
    const content = inside(node, MOST_ROWS);
    const text = isContainer(node) ? short(node) : word(node);
    const isLong = content.length === 0 && text.length > LONG_TEXT;
    const holds = content.length > 0 || isLong;
    const open = isLong ? this.#opened.get(this.#place) === true : holds && this.#open;
    put(this.#name, label);
    put(this.#value, isLong && !open ? short(node, LONG_TEXT) : open && !isLong ? "" : text);
    put(this.#type, typeName(node));
    this.#space.data = this.#value.textContent ? "\u00a0" : "";
    mark(this.#value, "data-kind", tones[node.type] ?? (SIGNS[node.type] || node.type === "truncated" ? "note" : null));
    this.#watched.hidden = !node.observableTracked;
    this.#entry.disabled = !holds;
    mark(this.#entry, "aria-expanded", holds ? String(open) : null);
    const items = open ? content : [];
    this.#fill(items, lit);
    const here = lit.has(node) && !items.some((item) => lit.has(item.node));
    if (here) this.#light();
  }

  #fill(items, lit) {
    if (items.length === 0) {
      this.#below = [];
      this.#items.replaceChildren();
      this.#items.remove();
      this.#rest.remove();
      return;
    }
    while (this.#below.length > items.length) this.#below.pop().element.remove();
    while (this.#below.length < items.length) {
      const row = new Row(`${this.#place}/${this.#below.length}`, this.#opened, false);
      this.#below.push(row);
      this.#items.append(row.element);
    }
    items.forEach(({ label, node }, index) => this.#below[index].show(label, node, lit));
    if (this.#items.parentNode !== this.element) this.element.append(this.#items);
    const rest = restOf(this.#node, items.length);
    put(this.#rest, rest);
    if (rest) this.element.append(this.#rest);
    else this.#rest.remove();
  }

  #light() {
    mark(this.element, "data-lit", true);
    clearTimeout(this.#lit);
    this.#lit = setTimeout(() => mark(this.element, "data-lit", null), LIT);
  }

  #turn() {
    this.#open = this.#entry.ariaExpanded === "false";
    this.#opened.set(this.#place, this.#open);
    this.show(this.#name.textContent, this.#node, new Set());
  }
}

function typeName(node) {
  if (node.type === "truncated" || node.type === "error") return "";
  if (node.type === "recursive_ref") return "recursion";
  const type = String(node.type).replace(/^(?:object|repr) \((.*)\)$/, "$1");
  const isUntold = isObject(node) && !node.length; // it may be empty, or its client tells nothing of such
  return isContainer(node) && !isUntold ? `${type} · ${node.length}` : type;
}

/** The text below the items of a container, if there are more items than these, or fewer than there should be. */
function restOf(node, shown) {
  if (isSequence(node) && node.value.length > node.length) {
    return `Something was taken out; the script did not say what. ${node.length} of these are left.`;
  }
  if (node.tail?.length && shown > node.value.length + node.tail.length) return ""; // it is said in between
  const rest = node.length - shown;
  return rest > 0 ? `… ${rest} more` : "";
}

export class BoardViz extends BoardComponent {
  #variables = new Map();
  #rows = new Map();
  #lit = new Set();
  #opened = new Map();
  #list = h("ul.variables");
  #empty = h("p.empty", {}, "No variables yet.");

  spawn() {
    this.role = "group";
    this.ariaLabel = "Variables";
    this.append(this.#empty, this.#list);
  }

  /** @param {Board.VizChange} payload */
  update(payload) {
    const touched = change(this.#variables, payload);
    if (touched === null) throw new Error(`A viz of this page has no action "${payload.action}".`);
    for (const node of touched) this.#lit.add(node);
    this.soil();
  }

  paint() {
    for (const [name, row] of this.#rows) {
      if (this.#variables.has(name)) continue;
      row.element.remove();
      this.#rows.delete(name);
    }
    for (const [name, node] of this.#variables) {
      if (!this.#rows.has(name)) {
        this.#rows.set(name, new Row(name, this.#opened, !(node.length > LONG)));
        this.#list.append(this.#rows.get(name).element);
      }
      this.#rows.get(name).show(name, node, this.#lit);
    }
    this.#lit.clear();
    this.#empty.hidden = this.#variables.size > 0;
  }

  state() {
    return { variables: Object.fromEntries(this.#variables) };
  }

  keep() {
    return this.#opened;
  }

  resume(opened) {
    this.#opened = opened;
    this.#rows.clear();
    this.#list.replaceChildren();
    this.soil();
  }
}

customElements.define("board-viz", BoardViz);
