/**
 * <house-tree>: a tree in a table (the ARIA treegrid pattern), for thousands of rows that change all the time.
 *
 * Rules
 *   - Only the rows in sight are in the document, and a row keeps its element while it is in sight. When a row leaves
 *     the window, its element is used for one that comes into it.
 *   - The rows in sight stay where they are when rows above them come and go. The active row stays in sight when the
 *     tree gets less room.
 *   - The tree has the focus, and `aria-activedescendant` names the active row. So the focus is not lost when a row
 *     leaves the document. Arrows, Home, End, the Page keys and first letters move to other rows. Right and Left
 * unfold,
 *     fold and go up; Space folds; Enter chooses.
 *
 * `tree.columns = [{id, label, order}]`: a head with an `order` ("ascending", "descending") is a button that announces
 * "sort" {id}. `tree.sorted = id` marks the column by which the page has sorted the rows.
 *
 * `tree.painter = (cells, element) => (row) => {...}` is called once for each row element, with its cells by column id.
 * It returns a function that paints a row into them, no matter which row was there before. The indent and the twist are
 * already in the first cell. `tree.show(rows)` takes an Outline's rows. Announces "fold" {key, open} and "choose"
 * {key}.
 */

import { HouseElement, h, mark } from "./element.js";
import { icon } from "./icons.js";

const MARGIN = 8; // rows made beyond either edge, so that a short scroll finds them there
const REST = 150; // milliseconds without a change until the elements are put in order, which is slow
let lastId = 0;

class HouseTree extends HouseElement {
  /** @type {(cells: Record<string, HTMLElement>, element: HTMLElement) => (row: any) => void} */
  painter;

  #columns = [];
  #sorted = null;
  #rows = [];
  #places = new Map(); // key -> index in #rows
  #drawn = new Map(); // key -> the row's element and painter
  #active = null;
  #chosen = null;
  #rowHeight = 30;
  #top = 0;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #tidying;
  #room = 0; // the height of the part in which rows are visible; 0 until it is laid out
  #late = false; // the active row has to be scrolled into sight as soon as there is room
  #head = h("div.head", { role: "row" });
  #body = h("div.body", { role: "rowgroup" });
  #id = `tree-${(lastId += 1)}`;
  #resize = new ResizeObserver(() => this.#measure());

  build() {
    mark(this, "role", "treegrid");
    this.tabIndex = 0;
    this.append(h("div.top", { role: "rowgroup" }, this.#head), this.#body);
    this.addEventListener("scroll", () => this.#scrolled(), { passive: true });
    this.addEventListener("keydown", (event) => this.#key(event));
    this.addEventListener("click", (event) => this.#click(event));
    this.addEventListener("focus", () => this.#activate(this.#active ?? this.#chosen ?? this.#rows[0]?.key, false));
  }

  connected() {
    this.#resize.observe(this);
  }

  disconnected() {
    clearTimeout(this.#tidying);
    this.#resize.disconnect();
  }

  set columns(columns) {
    this.#columns = columns;
    mark(this, "aria-colcount", columns.length);
    this.#head.replaceChildren(...columns.map(({ id, label, order }) => {
      const onclick = () => this.announce("sort", { id });
      const named = order ? h("button.sort", { type: "button", onclick }, label, icon("twist")) : label;
      return h(`div.${id}`, { role: "columnheader" }, named);
    }));
    this.sorted = this.#sorted;
  }

  set sorted(sorted) {
    this.#sorted = sorted;
    this.#columns.forEach(({ id, order }, index) =>
      mark(this.#head.children[index], "aria-sort", order && id === sorted ? order : null));
  }

  show(rows) {
    const anchor = this.#anchor();
    this.#rows = rows;
    this.#places = new Map(rows.map((row, index) => [row.key, index]));
    mark(this, "aria-rowcount", rows.length + 1);
    this.#stretch();
    if (this.#active !== null && !this.#places.has(this.#active)) this.#active = null;
    this.#hold(anchor);
    this.repaint();
  }

  /** Paints the rows in sight again, with the current data. */
  repaint() {
    const first = Math.max(0, Math.floor(this.#top / this.#rowHeight) - MARGIN);
    const last = Math.min(this.#rows.length, Math.ceil((this.#top + this.#room) / this.#rowHeight) + MARGIN);
    const inSight = this.#rows.slice(first, last);
    const keys = new Set(inSight.map((row) => row.key));
    const free = [];
    for (const [key, drawn] of this.#drawn) {
      if (keys.has(key)) continue;
      free.push(drawn);
      this.#drawn.delete(key);
    }
    for (const { key } of inSight) {
      if (this.#drawn.has(key)) continue;
      const drawn = free.pop() ?? this.#draw();
      drawn.element.dataset.key = key;
      this.#drawn.set(key, drawn);
    }
    for (const { element } of free) element.remove();
    inSight.forEach((row, index) => {
      const { element, paint } = this.#drawn.get(row.key);
      if (!element.isConnected) this.#body.append(element);
      this.#place(element, row, first + index);
      paint(row);
    });
    clearTimeout(this.#tidying);
    this.#tidying = setTimeout(() => this.#tidy(), REST);
    mark(this, "aria-activedescendant", this.#drawn.get(this.#active)?.element.id ?? null);
  }

  /** Whether a row is in sight, or close to it. */
  shows(key) {
    return this.#drawn.has(key);
  }

  /** Marks a row as chosen. `reveal`: also scrolls it into sight. */
  choose(key, reveal = false) {
    this.#chosen = key;
    if (reveal && this.#places.has(key)) this.#activate(key);
    else this.repaint();
  }

  /** Puts the elements in the order of their rows, for screen readers. */
  #tidy() {
    const order = ({ element }) => Number(element.ariaRowIndex);
    let next = this.#body.firstElementChild;
    for (const { element } of [...this.#drawn.values()].sort((a, b) => order(a) - order(b))) {
      if (element === next) next = next.nextElementSibling;
      else this.#body.insertBefore(element, next);
    }
  }

  #draw() {
    /** @type {Record<string, HTMLElement>} */
    const cells = {};
    const element = h("div.row", { role: "row" });
    this.#columns.forEach(({ id }, index) => {
      cells[id] = h(`div.${id}`, { role: "gridcell" });
      if (index === 0) cells[id].append(h("span.indent"), h("span.twist", {}, icon("twist")));
      element.append(cells[id]);
    });
    return { element, paint: this.painter(cells, element) };
  }

  #place(element, row, index) {
    const place = `${index} ${row.level} ${row.open} ${row.position} ${row.size} ${this.#rowHeight}`;
    if (element.dataset.place !== place) {
      element.dataset.place = place;
      element.id = `${this.#id}-${index}`;
      element.style.transform = `translateY(${index * this.#rowHeight}px)`;
      element.style.setProperty("--level", row.level - 1);
      mark(element, "aria-rowindex", index + 2);
      mark(element, "aria-level", row.level);
      mark(element, "aria-posinset", row.position);
      mark(element, "aria-setsize", row.size);
      mark(element, "aria-expanded", row.open === null ? null : row.open);
    }
    mark(element, "aria-selected", row.key === this.#chosen);
    element.classList.toggle("active", row.key === this.#active);
  }

  // --- positions

  #measure() {
    const height = parseFloat(getComputedStyle(this.#body).getPropertyValue("--row"));
    const anchor = this.#anchor();
    const followed = this.#late || this.#sees(this.#places.get(this.#active));
    this.#room = this.clientHeight - this.#head.offsetHeight;
    if (height !== this.#rowHeight) {
      this.#rowHeight = height;
      this.#stretch();
      this.#hold(anchor);
    }
    if (followed && this.#places.has(this.#active)) this.#reveal(this.#places.get(this.#active));
    this.repaint();
  }

  #stretch() {
    const height = `${this.#rows.length * this.#rowHeight}px`;
    if (this.#body.style.height !== height) this.#body.style.height = height;
  }

  #scrolled() {
    if (this.scrollTop === this.#top) return;
    this.#top = this.scrollTop;
    this.repaint();
  }

  /** The row at the top edge, and how much of it is cut off. None at the very top, so that new rows come into sight
  there. */
  #anchor() {
    if (this.#top === 0) return null;
    const index = Math.floor(this.#top / this.#rowHeight);
    const row = this.#rows[index];
    return row ? { key: row.key, cut: this.#top - index * this.#rowHeight, rowHeight: this.#rowHeight } : null;
  }

  #hold(anchor) {
    const longest = Math.max(0, this.#rows.length * this.#rowHeight - this.#room);
    const index = anchor && this.#places.get(anchor.key);
    const top = index === null || index === undefined ? this.#top : index * this.#rowHeight + anchor.cut;
    if (Math.min(top, longest) !== this.#top) this.scrollTop = this.#top = Math.min(top, longest);
  }

  #sees(index) {
    const top = index * this.#rowHeight;
    return top + this.#rowHeight > this.#top && top < this.#top + this.#room;
  }

  #reveal(index) {
    this.#late = this.#room <= 0;
    if (this.#late) return;
    const top = index * this.#rowHeight;
    const lowest = top + this.#rowHeight - this.#room;
    if (top < this.#top) this.scrollTop = this.#top = top;
    else if (lowest > this.#top) this.scrollTop = this.#top = lowest;
  }

  // --- the reader's actions

  #activate(key, reveal = true) {
    if (key === undefined) return;
    this.#active = key;
    if (reveal) this.#reveal(this.#places.get(key));
    this.repaint();
  }

  #fold(row, open) {
    this.announce("fold", { key: row.key, open });
  }

  #click(event) {
    const element = event.target.closest(".row");
    const row = element && this.#rows[this.#places.get(element.dataset.key)];
    if (!row) return;
    this.#activate(row.key, false);
    if (event.target.closest(".twist") && row.open !== null) this.#fold(row, !row.open);
    else this.announce("choose", { key: row.key });
  }

  #key(event) {
    if (event.target !== this || event.ctrlKey || event.metaKey || event.altKey || !this.#rows.length) return;
    const at = this.#places.get(this.#active) ?? 0;
    const step = this.#step(event.key, at);
    if (step === null) return;
    event.preventDefault();
    if (typeof step === "number") this.#activate(this.#rows[Math.min(Math.max(step, 0), this.#rows.length - 1)].key);
    else step();
  }

  /** The meaning of a key on row `at`: the row to go to, an action, or null. */
  #step(key, at) {
    const row = this.#rows[at];
    const page = Math.max(1, Math.floor(this.#room / this.#rowHeight) - 1);
    switch (key) {
      case "ArrowDown": return at + 1;
      case "ArrowUp": return at - 1;
      case "PageDown": return at + page;
      case "PageUp": return at - page;
      case "Home": return 0;
      case "End": return this.#rows.length - 1;
      case "ArrowRight": return row.open === false ? () => this.#fold(row, true) : row.open ? at + 1 : at;
      case "ArrowLeft": return row.open ? () => this.#fold(row, false) : this.#parent(at);
      case " ": return row.open === null ? at : () => this.#fold(row, !row.open);
      case "Enter": return () => this.announce("choose", { key: row.key });
      default: return key.length === 1 && key !== "/" ? this.#nextLetter(key, at) : null;
    }
  }

  #parent(at) {
    const { level } = this.#rows[at];
    for (let index = at - 1; index >= 0; index -= 1) if (this.#rows[index].level < level) return index;
    return at;
  }

  /** The next row (after the last one comes the first) with a key whose last part begins with the letter. */
  #nextLetter(letter, at) {
    const begins = ({ key }) => key.slice(key.lastIndexOf("/") + 1).toLowerCase().startsWith(letter.toLowerCase());
    const index = [...this.#rows.slice(at + 1), ...this.#rows.slice(0, at + 1)].findIndex(begins);
    return index === -1 ? null : (at + 1 + index) % this.#rows.length;
  }
}

customElements.define("house-tree", HouseTree);
