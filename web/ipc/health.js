/**
 * <desk-health>: the folder, how it is watched, who answers, the editor, and why things are in quarantine. Announces
 * "close", where it lies over the list, and "editor" with what the reader wants of it.
 */

import { HouseElement, format, h, icon, mark, put } from "../house/house.js";

/** @import { Desk } from "../messages" */

const NUMBERS = /** @type {[string, (totals: Desk.DeskTotals) => string][]} */ ([
  ["Events", ({ events }) => format.count(events ?? 0)],
  ["Overflows", ({ overflows }) => format.count(overflows ?? 0)],
  ["Rescans", ({ rescans }) => format.count(rescans ?? 0)],
  ["Last sync", ({ sync_ms }) => (sync_ms ? format.brief(sync_ms / 1000) : "–")],
]);

const commands = (count) => (count === 1 ? "1 command" : `${format.count(count)} commands`);
const files = (count) => (count === 1 ? "1 file" : `${format.count(count)} files`);

/**
 * @param {HTMLElement} here
 * @param {readonly string[]} reasons
 */
function list(here, reasons) {
  if (here.textContent !== reasons.join("")) {
    here.replaceChildren(...reasons.map((reason) => h("li", {}, reason)));
  }
}

const ORDERS = { stop: "End the editor…", start: "Launch the editor" };

class DeskHealth extends HouseElement {
  #pill = h("house-pill");
  #base = h("p.base");
  #trouble = h("p.what");
  #watched = h("p.watched");
  #values = NUMBERS.map(() => h("dd"));
  #withheld = h("p.sentence.withheld");
  #unread = h("ul.reasons");
  #peer = h("p.sentence");
  #editor = h("p.sentence");
  #order = h("button.editor", { type: "button", onclick: () => this.announce("editor", { order: this.#order.dataset.order }) });
  #count = h("b.badge");
  #reasons = h("ul.reasons");
  #none = h("p.sentence", {}, "Nothing had to be set aside.");

  build() {
    this.setAttribute("role", "region");
    this.setAttribute("aria-label", "How the desk is");
    const part = (title, ...content) => h("section", {}, h("h3", {}, title), ...content);
    this.append(
      h("header", {}, h("h2", {}, "Desk"), this.#pill,
        h("button.quiet.close", { type: "button", title: "Close", ariaLabel: "Close", onclick: () => this.announce("close") },
          icon("cross"))),
      part("Folder", this.#base, this.#trouble, this.#watched,
        h("dl", {}, ...NUMBERS.map(([label], at) => h("div", {}, h("dt", {}, label), this.#values[at]))),
        this.#withheld, this.#unread),
      part("Who answers", this.#peer),
      part("Editor", this.#editor, this.#order),
      h("section", {}, h("h3", {}, "Quarantine ", this.#count), this.#reasons, this.#none));
    this.#pill.said = ["half", "info", "connecting"];
  }

  /** @param {Desk.DeskTotals} totals */
  show(totals) {
    const lonely = totals.peer_alive === false;
    const standing = totals.trouble || totals.down;
    this.#pill.said = standing ? ["alarm", "bad", "stands still"]
      : lonely ? ["alarm", "warn", "nobody answers"] : ["disc", "good", "works"];
    put(this.#base, totals.base || "Not known yet.");
    put(this.#trouble, standing ?? "");
    this.#trouble.hidden = !standing;
    this.#watched.hidden = Boolean(totals.trouble);
    put(this.#watched, totals.watched === false
      ? "Looked at every now and then: this system tells of no changes."
      : "The system tells of every change.");
    NUMBERS.forEach(([, said], at) => put(this.#values[at], said(totals)));
    mark(this.#values[1], "data-tone", totals.overflows ? "warn" : null);
    const withheld = totals.withheld ?? 0;
    put(this.#withheld, withheld ? `${files(withheld)} cannot be read now, and will be tried again:` : "");
    this.#withheld.hidden = this.#unread.hidden = withheld === 0;
    mark(this.#withheld, "data-tone", "warn");
    const unread = totals.withheld_reasons ?? [];
    list(this.#unread, unread.length && withheld > unread.length
      ? [...unread, `and ${format.count(withheld - unread.length)} more.`] : unread);
    const lost = totals.lost ? ` ${commands(totals.lost)} did not end in time, and may run still.` : "";
    put(this.#peer, (totals.peer || "Nothing is known yet.") + lost);
    mark(this.#peer, "data-tone", lonely ? "warn" : null);
    put(this.#editor, totals.editor || "No editor is managed here.");
    const order = totals.editor_order || null;
    this.#order.hidden = order === null;
    mark(this.#order, "data-order", order);
    if (order) put(this.#order, ORDERS[order]);
    const quarantined = totals.quarantined ?? 0;
    put(this.#count, quarantined ? format.count(quarantined) : "");
    this.#none.hidden = quarantined > 0;
    const reasons = totals.reasons ?? [];
    const shown = reasons.length || !quarantined ? reasons : ["Each has its reason beside it in the folder."];
    list(this.#reasons, shown);
  }
}

customElements.define("desk-health", DeskHealth);
