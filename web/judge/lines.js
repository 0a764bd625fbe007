/**
 * <judge-lines>: a text of any length, of which only the lines in sight are in the document.
 * `lines.show({count, row, reveal})`: `row(i, longest)` makes the element of line i with at most `longest` characters,
 * and `reveal` is the line to scroll into sight. `one.join(other)` makes two of them scroll together.
 *
 * Rules
 *   - All lines have the same height and none is wrapped, so it is easy to compute which are in sight.
 *   - A text of a few screens is in the document as a whole, so that it can be searched and selected.
 *   - Nothing is drawn before it comes into sight or is printed: a case outside of the window costs nothing.
 *   - On paper all lines are drawn, wrapped if necessary, up to a limit for all texts together.
 */

import { HouseElement, format, h, mark, must } from "../house/house.js";

const WHOLE = 120; // a text of so many lines is drawn as a whole
const MARGIN = 30; // lines that are drawn beyond either edge, for short scrolls
const LONGEST = 4_000; // characters of a line that are shown; a browser lays out one endless line very slowly...
const LONGEST_PRINTED = 100_000; // ...but a wrapped one fast
const MOST_PRINTED = 10_000; // lines of all texts together; but some of each are always printed

let paper = 0; // lines that may still be printed
window.addEventListener("beforeprint", () => (paper = MOST_PRINTED)); // before any text draws itself

class JudgeLines extends HouseElement {
  #count = 0;
  /** @type {((at: number, longest: number) => HTMLElement) | null} */
  #row = null;
  #height = 20;
  #drawn = [0, 0];
  #reveal = null;
  /** @type {Set<JudgeLines>} */
  #others = new Set();
  /** @type {string | null} */
  #told = null; // the position to which another text has scrolled this one
  /** @type {number | null} */
  #printing = null; // while it is printed: its scroll position before
  #sheet = h("div.sheet");
  #window = h("div.window");
  #inSight = false;
  #resize = new ResizeObserver(() => this.#inSight && this.#measure());
  #sight = new IntersectionObserver((news) => {
    this.#inSight = news[news.length - 1].isIntersecting;
    if (this.#inSight) this.#measure();
  });

  build() {
    mark(this, "role", "group");
    this.#sheet.append(this.#window);
    this.append(this.#sheet);
    this.addEventListener("scroll", () => this.#scrolled(), { passive: true });
  }

  connected() {
    this.#resize.observe(this);
    this.#sight.observe(this);
    this.listen(window, "beforeprint", () => this.#print());
    this.listen(window, "afterprint", () => this.#endPrint());
  }

  disconnected() {
    this.#resize.disconnect();
    this.#sight.disconnect();
  }

  show({ count, row, reveal = null }) {
    this.#count = count;
    this.#row = row;
    this.#drawn = [0, 0];
    this.#reveal = reveal;
    this.#window.replaceChildren();
    this.#sheet.style.height = `${count * this.#height}px`;
    if (this.#inSight) this.#measure();
  }

  join(other) {
    this.#others.add(other);
  }

  /** Scrolls so that line `at` is in the upper part, and the first difference in it is in sight. */
  reveal(at) {
    const top = at * this.#height;
    const room = this.clientHeight;
    if (top < this.scrollTop + this.#height || top + 2 * this.#height > this.scrollTop + room) {
      this.scrollTop = top - Math.floor(room / 3);
    }
    this.#draw();
    const found = this.#window.children[at - this.#drawn[0]]?.querySelector("mark");
    if (!found) return;
    const left = found.offsetLeft;
    const right = this.scrollLeft + this.clientWidth;
    if (left < this.scrollLeft || left + 40 > right) this.scrollLeft = left - this.clientWidth / 3;
  }

  #measure() {
    const height = parseFloat(getComputedStyle(this.#sheet).lineHeight);
    if (height !== this.#height) {
      this.#height = height;
      this.#sheet.style.height = `${this.#count * height}px`;
      this.#drawn = [0, 0];
    }
    if (!this.clientHeight) return;
    this.#draw();
    if (this.#reveal !== null) this.reveal(this.#reveal);
    this.#reveal = null;
    this.tabIndex = this.scrollHeight > this.clientHeight || this.scrollWidth > this.clientWidth ? 0 : -1;
  }

  #draw() {
    if (!this.#row || this.#printing !== null) return;
    const top = Math.floor(this.scrollTop / this.#height);
    const bottom = Math.ceil((this.scrollTop + this.clientHeight) / this.#height);
    const all = this.#count <= WHOLE;
    const [first, last] = this.#drawn;
    if (last > first && first <= top && last >= Math.min(bottom, this.#count)) return;
    const from = all ? 0 : Math.max(0, top - MARGIN);
    const to = all ? this.#count : Math.min(this.#count, bottom + MARGIN);
    this.#drawn = [from, to];
    this.#window.style.transform = `translateY(${from * this.#height}px)`;
    this.#window.replaceChildren(...this.#rows(from, to, LONGEST));
  }

  #rows(from, to, longest) {
    const row = must(this.#row, "lines");
    return Array.from({ length: to - from }, (_, at) => row(from + at, longest));
  }

  #print() {
    if (!this.#row || !this.checkVisibility()) return;
    const count = Math.min(this.#count, Math.max(paper, WHOLE));
    paper -= count;
    this.#printing = this.scrollTop;
    this.#window.replaceChildren(...this.#rows(0, count, LONGEST_PRINTED));
    const left = this.#count - count;
    if (left > 0) this.#window.append(h("p.left", {}, `… ${format.count(left)} more lines`));
  }

  #endPrint() {
    if (this.#printing === null) return;
    this.#drawn = [0, 0];
    this.#window.replaceChildren();
    this.scrollTop = this.#printing;
    this.#printing = null;
    if (this.#inSight) this.#measure();
  }

  #scrolled() {
    this.#draw();
    const place = `${this.scrollTop} ${this.scrollLeft}`;
    if (place === this.#told) return;
    for (const other of this.#others) other.#follow(this.scrollTop, this.scrollLeft);
  }

  #follow(top, left) {
    this.scrollTop = top;
    this.scrollLeft = left;
    this.#told = `${this.scrollTop} ${this.scrollLeft}`;
    this.#draw();
  }
}

customElements.define("judge-lines", JudgeLines);
