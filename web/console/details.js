/** <console-details>: everything about the chosen actor. `details.show(path, picture, now)`. Announces "close". */

import { HouseElement, copy, format, h, icon, mark, put } from "../house/house.js";
import { hashOf, nameOf, stateOf } from "./picture.js";
import "./meter.js";

/** @typedef {import("../messages").Console.Node} Node */
/** @typedef {import("./picture.js").Picture} Picture */

/** @type {[name: string, said: (node: Node, picture: Picture) => string][]} */
const NUMBERS = [
  ["Restarts", ({ restarts }) => format.count(restarts)],
  ["Crashes", ({ crashes }) => format.count(crashes)],
  ["Messages/s", ({ inside }) => format.rate(inside)],
  ["Handled", ({ handled }) => format.count(handled)],
  ["Dropped", ({ dropped }) => format.count(dropped)],
  ["Children", (node, picture) => format.count(picture.children(node.path).length + node.folded)],
];

/**
 * @param {Node} node
 * @param {number} time
 */
function standing({ since, dynamic, restarted }, time) {
  const started = dynamic ? " · started at runtime" : "";
  const again = restarted === null ? "" : ` · restarted ${format.ago(time - restarted)}`;
  return `for ${format.span(time - since)}, since ${format.clock(since)}${started}${again}`;
}

class ConsoleDetails extends HouseElement {
  /** @type {string | null} */
  #path = null;
  #last = null; // the node as it was last seen
  #name = h("h2");
  #pill = h("house-pill");
  #since = h("span.since");
  #trail = h("p.trail");
  #spark = h("house-spark");
  #peak = h("p.peak");
  #meter = h("console-meter");
  #values = NUMBERS.map(() => h("dd"));
  #trouble = h("p.trouble-note");
  #note = h("p.note");
  #errorTitle = h("h3", {}, "Last error");
  #error = h("pre", { tabIndex: 0, ariaLabel: "Last error" });
  #body = h("div.body", {},
    h("div.course", {}, this.#spark, this.#peak),
    h("dl", {},
      h("div.wide", {}, h("dt", {}, "Mailbox"), h("dd", {}, this.#meter)),
      ...NUMBERS.map(([label], index) => h("div", {}, h("dt", {}, label), this.#values[index]))),
    this.#trouble, this.#note, this.#errorTitle, this.#error);
  #missing = h("house-empty");

  build() {
    this.setAttribute("role", "region");
    this.setAttribute("aria-label", "Chosen actor");
    const button = (sign, label, onclick) =>
      h("button.quiet", { type: "button", title: label, ariaLabel: label, onclick }, icon(sign));
    const copying = button("copy", "Copy path", () => this.#copy());
    const close = button("cross", "Close", () => this.announce("close"));
    const standing = h("p.standing", {}, this.#pill, this.#since);
    this.append(h("header", {}, this.#name, copying, close), this.#trail, standing, this.#missing, this.#body);
    this.#missing.say("Not in the tree now.", "It appears here when it starts, unless it is left out of a long list.");
    this.addEventListener("keydown", (event) => event.key === "Escape" && this.announce("close"));
  }

  show(path, picture, now) {
    this.hidden = path === null;
    if (path === null) return;
    if (path !== this.#path) this.#turnTo(path);
    const node = picture.nodes.get(path);
    this.#last = node ?? this.#last;
    this.#body.hidden = !this.#last;
    this.#missing.hidden = Boolean(this.#last);
    this.#pill.state = node ? stateOf(node) : "gone";
    put(this.#since, node ? standing(node, picture.time(now)) : "");
    if (node) this.#since.title = format.exact(node.since);
    if (this.#last) this.#paint(this.#last, picture);
  }

  #turnTo(path) {
    this.#path = path;
    this.#last = null;
    const steps = path.split("/");
    put(this.#name, steps.at(-1));
    const above = steps.slice(0, -1).flatMap((step, index) => [
      h("a", { href: hashOf(steps.slice(0, index + 1).join("/")) }, step),
      h("span.slash", {}, "/"),
    ]);
    this.#trail.replaceChildren(...above, steps.at(-1));
    this.scrollTop = 0;
  }

  #paint(node, picture) {
    const history = picture.histories.get(node.path);
    if (history) {
      this.#spark.draw(history);
      const peak = history.reduce((most, value) => (value > most ? value : most), 0);
      this.#spark.label = "Messages per second over the last minute";
      put(this.#peak, `peak ${format.rate(peak)}/s`);
    }
    this.#meter.show(node);
    NUMBERS.forEach(([, value], index) => put(this.#values[index], value(node, picture)));
    put(this.#name, nameOf(node));
    put(this.#trouble, node.trouble ? `${node.trouble[0].toUpperCase()}${node.trouble.slice(1)}.` : "");
    this.#trouble.hidden = !node.trouble;
    put(this.#note, node.note ?? "");
    this.#note.hidden = !node.note;
    this.#error.hidden = this.#errorTitle.hidden = !node.error;
    put(this.#error, node.error ?? "");
    mark(this, "data-kind", node.kind);
  }

  async #copy() {
    if (this.#path === null) return;
    await copy(this.#path, { said: `Copied ${this.#path}`, shown: this.#trail });
  }
}

customElements.define("console-details", ConsoleDetails);
