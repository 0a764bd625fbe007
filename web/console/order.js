/**
 * The order in which the children of each actor are shown: start order, unless the reader has chosen another one. That
 * choice is kept in this browser. An actor is sorted by the sum over its whole branch, so that the branch with the
 * largest numbers is at the top even if it is folded. If two sums are equal, start order decides.
 */

import { must } from "../house/house.js";
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
      // a sandboxed webview may refuse its storage: then the choice lasts as long as the page
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
    const node = (path) => must(picture.nodes.get(path), `actor ${path}`);
    if (this.#by === "name") return sorted(standing, (a, b) => names.compare(nameOf(node(a)), nameOf(node(b))));
    const weight = this.#by === "rate" ? (path) => node(path).inside : sums(picture, weighed[this.#by]);
    return sorted(standing, (a, b) => weight(b) - weight(a));
  }
}

function sorted(children, compare) {
  return (path) => [...children(path)].sort(compare);
}

/**
 * For each node, the sum of a number over its whole branch.
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
    return id !== null && known(id) ? id : "place";
  } catch {
    return "place";
  }
}
