/**
 * In which order the children of each actor are shown. As they stand (in start order), unless the reader wants it
 * otherwise; what he wants is kept in this browser. A branch counts with all that is in it, so that what is sought is at
 * the top, folded or not. Ties stay as they stand.
 */

import { nameOf } from "./picture.js";

const KEY = "troupe.console.order";
export const ORDERS = [
  ["place", "Place"],
  ["name", "Name"],
  ["rate", "Messages/s"],
  ["mailbox", "Mailbox"],
  ["restarts", "Restarts"],
];
const known = (id) => ORDERS.some(([each]) => each === id);
const names = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" });
/** @type {Record<string, "queued" | "restarts">} */
const weighed = { mailbox: "queued", restarts: "restarts" };

export class Order {
  #by = kept();

  get by() {
    return this.#by;
  }

  set by(id) {
    this.#by = known(id) ? id : "place";
    try {
      localStorage.setItem(KEY, this.#by);
    } catch {
      // a sandboxed webview may refuse its storage: then it lasts as long as the page
    }
  }

  /**
   * `children(path)` of the picture, in this order.
   *
   * @param {import("./picture.js").Picture} picture
   */
  of(picture) {
    const standing = (path) => picture.children(path);
    if (this.#by === "place") return standing;
    const node = (path) => picture.nodes.get(path);
    if (this.#by === "name") return sorted(standing, (a, b) => names.compare(nameOf(node(a)), nameOf(node(b))));
    const weight = this.#by === "rate" ? (path) => node(path).inside : sums(picture, weighed[this.#by]);
    return sorted(standing, (a, b) => weight(b) - weight(a));
  }
}

function sorted(children, compare) {
  return (path) => [...children(path)].sort(compare);
}

/**
 * Of a number of each node, the sum over its branch.
 *
 * @param {import("./picture.js").Picture} picture
 * @param {"queued" | "restarts"} field
 */
function sums(picture, field) {
  const all = new Map();
  for (const [path, node] of [...picture.nodes].reverse()) { // children before their parents
    all.set(path, (all.get(path) ?? 0) + node[field]);
    if (node.parent !== null) all.set(node.parent, (all.get(node.parent) ?? 0) + all.get(path));
  }
  return (path) => all.get(path);
}

function kept() {
  try {
    const id = localStorage.getItem(KEY);
    return known(id) ? id : "place";
  } catch {
    return "place";
  }
}
