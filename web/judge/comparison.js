/**
 * <judge-comparison>: the expected text beside the actual one, or above it if there is no room.
 * `comparison.show({expected, actual, compare, marked, blanks})`: the two texts are given as for `<judge-text>`;
 * `marked` says whether their differences are marked. `comparison.step(1)` goes to the next difference.
 */

import { HouseElement, h, icon, mark, put } from "../house/house.js";
import { aligned, linesOf, stretches } from "./difference.js";
import { endOf, line, plainRows } from "./text.js";

const NARROW = 40; // so many characters of a line fit on half the width of a sheet of paper

class JudgeComparison extends HouseElement {
  #expected = h("judge-text.expected", { label: "Expected" });
  #actual = h("judge-text.actual", { label: "Actual" });
  #places = []; // rows at which differences begin
  #at = 0;
  #word = h("span.word");
  #behind = h("p.unseen-difference");
  #steps = h("p.steps", {}, this.#word);

  build() {
    const button = (sign, label, step) =>
      h("button.quiet", { type: "button", title: label, ariaLabel: label, onclick: () => this.step(step) }, icon(sign));
    this.#steps.append(button("up", "Previous difference", -1), button("down", "Next difference", 1));
    this.append(this.#behind, this.#steps, this.#expected, this.#actual);
    this.#expected.lines.join(this.#actual.lines);
    this.#actual.lines.join(this.#expected.lines);
  }

  show({ expected, actual, compare, marked, blanks }) {
    const left = linesOf(expected.text, expected.cut);
    const right = linesOf(actual.text, actual.cut);
    const rows = marked ? aligned(left, right, compare) : null;
    this.#places = (rows ?? []).flatMap(({ differs }, at) => (differs && !rows[at - 1]?.differs ? [at] : []));
    this.#at = 0;
    this.#steps.hidden = this.#places.length < 2;
    this.#behind.hidden = !marked || this.#places.length > 0;
    const cut = expected.cut || actual.cut;
    const why = "The difference cannot be shown as text.";
    put(this.#behind, cut ? "The first difference comes after the part that is shown here." : why);
    this.#count();
    mark(this, "data-wide", [...left.lines, ...right.lines].some((each) => each.length > NARROW));
    const reveal = this.#places[0] ?? null;
    const shared = { left, right, rows, blanks, reveal };
    this.#expected.show({ source: expected, rows: rowsOf("left", shared), blanks });
    this.#actual.show({ source: actual, rows: rowsOf("right", shared), blanks });
  }

  /** Goes to the next difference, or with -1 to the previous one. */
  step(by) {
    if (!this.#places.length) return;
    this.#at = (this.#at + by + this.#places.length) % this.#places.length;
    this.#count();
    for (const { lines } of [this.#expected, this.#actual]) lines.reveal(this.#places[this.#at]);
  }

  copy(which) {
    (which === "expected" ? this.#expected : this.#actual).copy();
  }

  #count() {
    put(this.#word, `Difference ${this.#at + 1} of ${this.#places.length}`);
  }
}

/** The argument of `lines.show`, for one side. */
function rowsOf(side, { left, right, rows, blanks, reveal }) {
  const content = side === "left" ? left : right;
  if (!rows) {
    return plainRows(content, blanks);
  }
  const tone = side === "left" ? "good" : "bad";
  // If one side has nothing at all, it says so instead of showing empty lines.
  const count = content.lines.length ? rows.length : 0;
  return { count, reveal: count ? reveal : null, row: (at, longest) => compared(rows[at], longest) };

  function compared(row, longest) {
    const at = row[side];
    if (at === null) return line({ number: null, tone: row.differs ? tone : null });
    const text = content.lines[at];
    const paired = row.differs && row.left !== null && row.right !== null;
    const found = paired ? stretches(left.lines[row.left], right.lines[row.right])[side === "left" ? 0 : 1] : [];
    return line({
      number: at + 1,
      text,
      end: endOf(content, at),
      tone: row.differs ? tone : null,
      stretches: found.filter(([from, to]) => to > from),
      blanks: blanks || row.differs,
      longest,
    });
  }
}

customElements.define("judge-comparison", JudgeComparison);
