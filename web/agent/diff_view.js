/**
 * <agent-diff>: a change of a file, in one column or with the old and the new side by side; whichever was chosen last is
 * remembered, and on a narrow page it is one column. A long one is shown piece by piece: a thousand hunks are ready as
 * soon as ten. One that is folded away is not drawn before it is unfolded: a session may hold hundreds.
 *
 * While it asks, each hunk has a box: whether it is to be taken. Events: "taken".
 */

import { HouseElement, format, h, icon, mark, put } from "../house/house.js";
import { hunksOf, sidesOf, tallyOf } from "./diff.js";
import { narrow } from "./narrow.js";
import { visible } from "./visible.js";

/** Lines that are shown at once, and with each press more. */
const AT_ONCE = 300;
const MORE = 1000;
/** Characters of a line; the rest comes when it is asked for. */
const LONGEST = 600;
const KEPT = "troupe.agent.diff";
const SIGNS = { same: "", add: "+", del: "−", note: "" };
const OUTCOMES = {
  applied: ["check", "good", "applied"],
  moved: ["check", "good", "applied elsewhere"],
  loose: ["check", "good", "applied, but for white space"],
  merged: ["check", "good", "merged with your changes"],
  already: ["check", "idle", "was there already"],
  rejected: ["cross", "idle", "rejected"],
  refused: ["alarm", "bad", "does not fit"],
};

/** How diffs are shown, everywhere on the page. */
class Manner extends EventTarget {
  sides = keptManner();

  turn() {
    this.sides = !this.sides;
    try {
      localStorage.setItem(KEPT, this.sides ? "sides" : "inline");
    } catch {
      // it holds for as long as the page is open
    }
    this.dispatchEvent(new Event("change"));
  }
}

function keptManner() {
  try {
    return localStorage.getItem(KEPT) === "sides";
  } catch {
    return false;
  }
}

export const manner = new Manner();

class AgentDiff extends HouseElement {
  #tally = h("span.tally");
  #notes = h("span.about");
  #switch = h("button.quiet.sides", { type: "button", title: "Old and new side by side", onclick: () => manner.turn() }, "Side by side");
  #head = h("div.manner", {}, this.#tally, this.#notes, this.#switch);
  #body = h("div.hunks");
  #rest = h("div.rest", { hidden: true });
  /** @type {import("./diff.js").Hunk[]} */
  #hunks = [];
  /** @type {Set<number>} */
  #left = new Set();
  #asks = false;
  /** @type {any[]} */
  #outcomes = [];
  #shown = 0;
  #until = AT_ONCE;
  #ofWindows = false;
  /** All lines but a last one without a newline. */
  #ended = new Set();
  #isStale = false;

  build() {
    this.append(this.#head, this.#body, this.#rest);
    this.#body.addEventListener("change", (event) => this.#turned(/** @type {HTMLInputElement} */ (event.target)));
    this.#body.addEventListener("click", (event) => this.#unfold(/** @type {Element} */ (event.target)));
  }

  connected() {
    this.listen(manner, "change", () => this.#changed());
    this.listen(narrow, "change", () => this.#changed());
    this.#changed();
  }

  /** It may be seen now. */
  seen() {
    if (this.#isStale && this.isConnected && !this.closest("details:not([open])")) this.#draw();
  }

  #changed() {
    this.#isStale = true;
    requestAnimationFrame(() => this.seen());
  }

  /** @param {{diff: string, hunks?: any[], asks?: boolean}} change */
  show({ diff, hunks = [], asks = false }) {
    this.#hunks = hunksOf(diff, hunks);
    this.#ended = new Set(this.#hunks.flatMap(({ lines }) => lines.filter(({ kind }, at) => kind !== "note" && lines[at + 1]?.kind !== "note")));
    this.#ofWindows = this.#ended.size > 0 && [...this.#ended].every(({ text }) => text.endsWith("\r"));
    this.#asks = asks;
    const { added, removed } = tallyOf(this.#hunks);
    this.#tally.replaceChildren(h("b.added", {}, `+${format.count(added)}`), " ", h("b.removed", {}, `−${format.count(removed)}`));
    put(this.#notes, [
      this.#hunks.length > 1 ? `${format.count(this.#hunks.length)} hunks` : "",
      this.#ofWindows ? "lines end as on Windows (CRLF)" : "",
    ].filter(Boolean).join(" · "));
    this.#changed();
  }

  get count() {
    return this.#hunks.length;
  }

  /** The hunks that are taken, from 0. */
  get taken() {
    return this.#hunks.map((_, at) => at).filter((at) => !this.#left.has(at));
  }

  /** Whether hunks can be chosen. */
  set asks(asks) {
    if (asks === this.#asks) return;
    this.#asks = asks;
    for (const head of this.#body.querySelectorAll(".hunk > header")) this.#drawHead(head);
  }

  /** Which hunks were approved, when that is decided. */
  set approved(hunks) {
    if (hunks === null) return;
    this.#outcomes = this.#hunks.map((_, at) => this.#outcomes[at] ?? (hunks.includes(at) ? null : { outcome: "rejected" }));
    for (const head of this.#body.querySelectorAll(".hunk > header")) this.#drawHead(head);
  }

  /** What came of each hunk. */
  set outcomes(outcomes) {
    for (const each of outcomes) this.#outcomes[each.index] = each;
    for (const head of this.#body.querySelectorAll(".hunk > header")) this.#drawHead(head);
  }

  /** To the next hunk, or the last one before. Whether there is one. */
  step(by) {
    const stops = /** @type {HTMLElement[]} */ ([...this.#body.querySelectorAll(".hunk > header")]);
    const here = stops.findIndex((head) => head.parentElement?.contains(document.activeElement));
    const next = stops[here === -1 ? (by > 0 ? 0 : stops.length - 1) : here + by];
    if (!next) return false;
    next.scrollIntoView({ block: "center" });
    (/** @type {HTMLElement | null} */ (next.querySelector("input")) ?? next).focus({ preventScroll: true });
    return true;
  }

  get #sides() {
    return manner.sides && !narrow.matches;
  }

  #draw() {
    this.#isStale = false;
    const held = document.activeElement instanceof HTMLElement && this.#body.contains(document.activeElement)
      ? document.activeElement.closest("header")?.dataset.at : undefined;
    this.#switch.hidden = narrow.matches;
    mark(this.#switch, "aria-pressed", this.#sides);
    this.toggleAttribute("data-sides", this.#sides);
    this.#body.replaceChildren();
    this.#shown = 0;
    this.#grow(this.#until);
    if (held !== undefined) this.#headAt(held)?.focus();
  }

  #headAt(at) {
    const head = /** @type {HTMLElement | null} */ (this.#body.querySelector(`header[data-at="${at}"]`));
    return /** @type {HTMLElement | null} */ (head?.querySelector("input") ?? head);
  }

  /** Shows hunks, whole ones, until there are so many lines. */
  #grow(until) {
    this.#until = until;
    let lines = this.#hunks.slice(0, this.#shown).reduce((sum, hunk) => sum + hunk.lines.length, 0);
    const made = [];
    while (this.#shown < this.#hunks.length && (lines < until || this.#shown === 0)) {
      const hunk = this.#hunks[this.#shown];
      made.push(this.#hunk(hunk, this.#shown));
      lines += hunk.lines.length;
      this.#shown += 1;
    }
    this.toggleAttribute("data-long", lines > AT_ONCE * 2);
    this.#body.append(...made);
    this.#drawRest();
  }

  #drawRest() {
    const hunks = this.#hunks.slice(this.#shown);
    this.#rest.hidden = !hunks.length;
    if (!hunks.length) return;
    const lines = hunks.reduce((sum, hunk) => sum + hunk.lines.length, 0);
    const more = (label, most) => h("button", { type: "button", onclick: () => {
      const first = this.#shown;
      this.#grow(most);
      this.#headAt(first)?.focus();
    } }, label);
    this.#rest.replaceChildren(
      h("span", {}, `${format.count(hunks.length)} more ${hunks.length === 1 ? "hunk is" : "hunks are"} not shown (${format.count(lines)} lines).`),
      lines > MORE ? more("Show more", this.#until + MORE) : "", more("Show all", Infinity));
  }

  #hunk(hunk, at) {
    const head = h("header", { "data-at": String(at), tabIndex: -1 });
    const name = `Hunk ${at + 1} of ${this.#hunks.length}, line ${hunk.start}`;
    const rows = h("div.lines", { tabIndex: -1 });
    this.#fill(rows, hunk.lines, AT_ONCE * 4);
    const section = h("section.hunk", { role: "group", ariaLabel: name }, head, rows);
    this.#drawHead(head);
    return section;
  }

  /** A hunk may itself be thousands of lines: a new file. */
  #fill(rows, lines, most) {
    const some = lines.slice(0, most);
    rows.replaceChildren(...(this.#sides ? sidesOf(some).map(([old, now]) => this.#pair(old, now)) : some.map((line) => this.#row(line))));
    if (lines.length <= most) return;
    const all = h("button", { type: "button" }, `Show ${format.count(lines.length - most)} more lines`);
    all.addEventListener("click", () => this.#fill(rows, lines, Infinity));
    rows.append(h("div.rest", {}, all));
  }

  #row(line) {
    const number = (value) => h("i", value === null ? {} : { "data-n": String(value) });
    return h(`div.row.${line.kind}`, {}, number(line.old), number(line.now), h("b", {}, SIGNS[line.kind]), this.#text(line));
  }

  #pair(old, now) {
    const side = (line, number, other) => (line === null ? h("div.side.none") : h(`div.side.${line.kind}`, {},
      h("i", number === null ? {} : { "data-n": String(number) }), h("b", {}, line.kind === other ? "" : SIGNS[line.kind]), this.#text(line)));
    return h("div.pair", {}, side(old, old?.old ?? null, "add"), side(now, now?.now ?? null, "del"));
  }

  #text(line) {
    const { text, marked } = line;
    const whole = this.#ofWindows && this.#ended.has(line) ? text.slice(0, -1) : text;
    const code = h("code", {}, ...this.#marked(whole.slice(0, LONGEST), marked));
    if (whole.length > LONGEST) {
      const rest = h("button.link.long", { type: "button" }, `… ${format.count(whole.length - LONGEST)} more characters`);
      rest.dataset.rest = whole.slice(LONGEST);
      code.append(rest);
    }
    return code;
  }

  #marked(text, marked) {
    const see = (part) => visible(part, { lines: true });
    if (!marked || marked[0] >= text.length) return see(text);
    const [from, to] = marked;
    return [...see(text.slice(0, from)), h("mark", {}, ...see(text.slice(from, to))), ...see(text.slice(to))];
  }

  #drawHead(head) {
    const at = Number(head.dataset.at);
    const { start, head: told } = this.#hunks[at];
    const outcome = this.#outcomes[at];
    const many = this.#hunks.length > 1;
    const parts = [];
    if (this.#asks && many) {
      const box = h("input", { type: "checkbox", checked: !this.#left.has(at), ariaLabel: `Take hunk ${at + 1} of ${this.#hunks.length}` });
      parts.push(h("label", {}, box, `Hunk ${at + 1}`));
    } else if (many) {
      parts.push(h("span", {}, `Hunk ${at + 1}`));
    }
    parts.push(h("span.place", { title: told }, `line ${format.count(start)}`));
    if (outcome) {
      const [sign, tone, word] = OUTCOMES[outcome.outcome];
      const place = outcome.line && outcome.outcome === "moved" ? `, at line ${format.count(outcome.line)}` : "";
      parts.push(h("span.outcome", { "data-tone": tone }, icon(sign), `${word}${place}${outcome.reason ? `: ${outcome.reason}` : ""}`));
    }
    head.replaceChildren(...parts);
    head.parentElement?.classList.toggle("left", this.#left.has(at) || outcome?.outcome === "rejected");
  }

  /** @param {HTMLInputElement} box */
  #turned(box) {
    const head = /** @type {HTMLElement | null} */ (box.closest("header"));
    if (!head) return;
    const at = Number(head.dataset.at);
    if (box.checked) this.#left.delete(at);
    else this.#left.add(at);
    head.parentElement?.classList.toggle("left", !box.checked);
    this.announce("taken");
  }

  /** The rest of a long line. */
  #unfold(target) {
    const rest = /** @type {HTMLElement | null} */ (target.closest(".long"));
    rest?.replaceWith(...visible(rest.dataset.rest ?? "", { lines: true }));
  }
}

customElements.define("agent-diff", AgentDiff);
