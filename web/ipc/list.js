/**
 * <desk-list>: a window over as many requests as there are.
 *
 * Only the rows in sight are in the document, and only those and some around them are known here: the list announces
 * "want" {first, count, at, above}, and is shown the window that comes back.
 *
 * Rules
 *   - Every row is equally high, so the scroll bar is right without knowing the rows.
 *   - What the reader looks at stays where it is: the window is asked for by the request at the top edge, and when that has
 *     moved, the list scrolls with it. At the very top new requests come in, and nothing is held but the row to which the
 *     reader has walked.
 *   - The focus is on the list, and `aria-activedescendant` names the active row. Arrows, j and k, Page keys, Home and
 *     End walk; Enter opens; x and Space pick.
 *
 * Announces "want", "choose" {id} and "pick" {ids}: those that are picked, a Set.
 */

import { HouseElement, h, mark } from "../house/house.js";
import { COLUMNS, painter } from "./row.js";

/** @import { Desk } from "../messages" */

const MARGIN = 90; // rows that are known beyond either edge
const NEAR = 50; // rows beyond an edge, below which more are asked for
const PAINTED = 6; // rows in the document beyond either edge
const MOST = 500; // rows in a window
const PATIENCE = 3000; // milliseconds after which a request is sought no longer
const CALM = 50; // milliseconds between two wishes while the reader scrolls
const TRIES = 4; // windows without the row that the reader looks at, before it counts as gone
let lastId = 0;

class DeskList extends HouseElement {
  /** Seconds since 1970, as the server counts. */
  now = () => Date.now() / 1000;
  picked = new Set();

  /** @type {Desk.Window} */
  #window = { type: "window", first: 0, total: 0, rows: [] };
  #places = new Map(); // id -> index, of what is known
  #rows = new Map(); // index -> {element, paint}
  #active = 0;
  /** @type {string | null} */
  #activeId = null;
  #strayed = false; // the request that the reader had marked is out of reach, and the mark is on another
  #open = null;
  #rowHeight = 32;
  #top = 0;
  #room = 0;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;
  #wanted = "";
  #fresh = true; // the next window is of another filter or order
  #lost = 0; // windows in a row that did not hold the row that the reader looks at
  #sought = null; // to be brought into sight as soon as it is known where it stands
  #id = `desk-list-${(lastId += 1)}`;
  #head = h("div.head", { role: "row" }, ...COLUMNS.map(([name, label]) =>
    h(`div.${name}`, { role: "columnheader" }, label || h("span.unseen", {}, "Picked"))));
  #body = h("div.body", { role: "rowgroup" });
  #resize = new ResizeObserver(() => this.#measure());

  build() {
    mark(this, "role", "grid");
    mark(this, "aria-multiselectable", true);
    mark(this, "aria-colcount", COLUMNS.length);
    this.tabIndex = 0;
    this.append(h("div.top", { role: "rowgroup" }, this.#head), this.#body);
    this.addEventListener("scroll", () => this.#scrolled(), { passive: true });
    this.addEventListener("keydown", (event) => this.#key(event));
    this.addEventListener("click", (event) => this.#click(event));
  }

  connected() {
    this.#resize.observe(this);
  }

  disconnected() {
    clearTimeout(this.#timer);
    this.#resize.disconnect();
  }

  /** The request under the keyboard's mark, as far as it is known. @returns {Desk.RequestFact | null} */
  get active() {
    return this.#fact(this.#active);
  }

  /**
   * The same, for what changes something: only if the reader sees the mark, on the request that they gave it. Else the
   * mark comes into sight, and the next press of the key means it. @returns {Desk.RequestFact | null}
   */
  marked() {
    const top = this.#active * this.#rowHeight;
    const isSeen = document.activeElement === this && top + this.#rowHeight > this.#top && top < this.#top + this.#room;
    if (isSeen && !this.#strayed) return this.active;
    this.focus();
    this.#walk(this.#active);
    return null;
  }

  get total() {
    return this.#window.total;
  }

  /** @param {string} id @returns {Desk.RequestFact | null} */
  known(id) {
    return this.#places.has(id) ? this.#fact(this.#places.get(id)) : null;
  }

  /** Another filter or order: from the top. */
  restart() {
    this.#fresh = true;
    this.#active = 0;
    this.#activeId = null;
    this.#strayed = false;
    this.scrollTop = this.#top = 0;
    this.#want(true);
  }

  /** Brings a request into sight, if the filter lets it through. */
  seek(id) {
    this.#sought = id;
    this.#want(true);
  }

  /** Which is open beside the list. */
  set open(id) {
    this.#open = id;
    this.repaint();
  }

  /** What is wanted now; also to say it again on a new connection. */
  get wish() {
    const visible = Math.ceil(this.#room / this.#rowHeight) + 1;
    const top = Math.floor(this.#top / this.#rowHeight);
    const first = Math.max(0, top - MARGIN);
    const count = Math.min(MOST, top - first + visible + MARGIN);
    if (this.#sought) return { first, count: MOST, at: this.#sought, above: MARGIN };
    const held = this.#held;
    return held ? { first, count, at: held.id, above: held.index - first } : { first, count };
  }

  /** The row that stays where the reader sees it, however many come in above. */
  get #held() {
    const isWalking = document.activeElement === this && this.#active > 0;
    if (this.#fresh || (this.#top === 0 && !isWalking)) return null;
    const index = this.#top === 0 ? this.#active : Math.floor(this.#top / this.#rowHeight);
    const id = this.#fact(index)?.id;
    return id === undefined ? null : { id, index };
  }

  /** @param {Desk.Window} window */
  show(window) {
    this.#room ||= Math.max(0, this.clientHeight - this.#head.offsetHeight);
    const held = this.#held;
    this.#fresh = false;
    if (held && this.#lost < TRIES && !window.rows.some(({ id }) => id === held.id)) {
      this.#lost += 1; // others came in above before the server knew what the reader looks at; or it has gone
      this.#want(true);
      return;
    }
    this.#lost = 0;
    this.#window = window;
    this.#places = new Map(window.rows.map(({ id }, index) => [id, window.first + index]));
    mark(this, "aria-rowcount", window.total + 1);
    const height = `${window.total * this.#rowHeight}px`;
    if (this.#body.style.height !== height) this.#body.style.height = height;
    const moved = held && this.#places.has(held.id) ? this.#places.get(held.id) - held.index : 0;
    if (moved) this.scrollTop = this.#top = this.#top + moved * this.#rowHeight;
    if (this.#places.has(this.#sought)) {
      const sought = this.#places.get(this.#sought);
      this.#sought = null;
      this.#walk(sought);
    }
    if (this.#places.has(this.#activeId)) this.#active = this.#places.get(this.#activeId);
    else {
      this.#active += moved;
      this.#strayed ||= this.#activeId !== null;
    }
    this.#active = Math.max(0, Math.min(this.#active, window.total - 1));
    this.#activeId = this.#fact(this.#active)?.id ?? this.#activeId;
    if (moved) this.#want();
    this.repaint();
  }

  repaint() {
    const top = Math.floor(this.#top / this.#rowHeight);
    const first = Math.max(0, top - PAINTED);
    const last = Math.min(this.total, top + Math.ceil(this.#room / this.#rowHeight) + 1 + PAINTED);
    const free = [];
    for (const [index, row] of this.#rows) {
      if (index >= first && index < last) continue;
      free.push(row);
      this.#rows.delete(index);
    }
    const now = this.now();
    for (let index = first; index < last; index += 1) {
      let row = this.#rows.get(index);
      if (!row) {
        row = free.pop() ?? this.#make();
        this.#rows.set(index, row);
      }
      this.#place(row.element, index);
      row.paint(this.#fact(index), now);
    }
    for (const { element } of free) element.remove();
    const active = this.#rows.get(this.#active);
    mark(this, "aria-activedescendant", active ? active.element.id : null);
  }

  /** Picks these, or none. */
  pick(ids) {
    this.picked = new Set(ids);
    this.announce("pick", { ids: this.picked });
    this.repaint();
  }

  step(rows) {
    this.#walk(this.#active + rows);
  }

  // --- rows

  #fact(index) {
    return this.#window.rows[index - this.#window.first] ?? null;
  }

  #make() {
    const element = h("div.row", { role: "row" });
    this.#body.append(element);
    return { element, paint: painter(element) };
  }

  #place(element, index) {
    const id = this.#fact(index)?.id;
    if (element.dataset.index !== String(index)) {
      element.dataset.index = String(index);
      element.id = `${this.#id}-${index}`;
      mark(element, "aria-rowindex", index + 2);
    }
    mark(element, "data-key", id === undefined ? null : `request ${id}`);
    const place = `translateY(${index * this.#rowHeight}px)`;
    if (element.style.transform !== place) element.style.transform = place;
    mark(element, "aria-selected", id !== undefined && this.picked.has(id));
    mark(element, "aria-current", id !== undefined && id === this.#open ? "true" : null);
    element.classList.toggle("active", index === this.#active);
  }

  #measure() {
    const height = parseFloat(getComputedStyle(this.#body).getPropertyValue("--row"));
    const top = this.#top / this.#rowHeight;
    this.#room = this.clientHeight - this.#head.offsetHeight;
    if (height && height !== this.#rowHeight) {
      this.#rowHeight = height;
      this.#body.style.height = `${this.total * height}px`;
      this.scrollTop = this.#top = top * height;
    }
    this.#want();
    this.repaint();
  }

  #scrolled() {
    if (this.scrollTop === this.#top) return;
    this.#top = this.scrollTop;
    this.repaint();
    this.#want();
  }

  /** Asks for another window, if what is known does not reach far enough; `surely`: in any case. */
  #want(surely = false) {
    const top = Math.floor(this.#top / this.#rowHeight);
    const bottom = Math.min(this.total, top + Math.ceil(this.#room / this.#rowHeight) + 1);
    const { first, rows } = this.#window;
    const last = first + rows.length;
    const enough = first <= Math.max(0, top - NEAR) && last >= Math.min(this.total, bottom + NEAR);
    const follows = !this.#held === !this.#wanted.includes('"at"');
    if (enough && follows && this.#wanted && !surely) return;
    if (surely) this.#say();
    else this.#timer ??= setTimeout(() => this.#say(), CALM);
  }

  #say() {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const wish = this.wish;
    this.#wanted = JSON.stringify(wish);
    this.announce("want", wish);
    if (this.#sought) setTimeout(() => (this.#sought = null), PATIENCE);
  }

  // --- what the reader does

  #walk(index) {
    if (this.total === 0) return;
    this.#active = Math.max(0, Math.min(index, this.total - 1));
    this.#activeId = this.#fact(this.#active)?.id ?? null;
    this.#strayed = false;
    const top = this.#active * this.#rowHeight;
    const lowest = top + this.#rowHeight - this.#room;
    if (top < this.#top) this.scrollTop = this.#top = top;
    else if (lowest > this.#top) this.scrollTop = this.#top = Math.ceil(lowest);
    this.#want();
    this.repaint();
  }

  toggle(id) {
    const picked = new Set(this.picked);
    if (!picked.delete(id)) picked.add(id);
    this.pick(picked);
  }

  #click(event) {
    const element = event.target.closest(".row");
    if (!element) return;
    this.#walk(Number(element.dataset.index));
    const fact = this.active;
    if (!fact) return;
    if (event.target.closest(".pick")) this.toggle(fact.id);
    else this.announce("choose", { id: fact.id });
  }

  #key(event) {
    if (event.target !== this || event.ctrlKey || event.metaKey || event.altKey) return;
    const page = Math.max(1, Math.floor(this.#room / this.#rowHeight) - 1);
    const to = {
      ArrowDown: this.#active + 1, ArrowUp: this.#active - 1, PageDown: this.#active + page,
      PageUp: this.#active - page, Home: 0, End: this.total - 1,
    }[event.key];
    if (to !== undefined) this.#walk(to);
    else if (event.key === " " && this.active) this.toggle(this.active.id);
    else return;
    event.preventDefault();
  }
}

customElements.define("desk-list", DeskList);
