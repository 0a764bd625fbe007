/** Paints an actor into a row of the tree. */

import { format, h, mark, put } from "../house/house.js";
import { nameOf, stateOf } from "./picture.js";
import "./meter.js";

export const COLUMNS = [
  { id: "name", label: "Actor", order: "ascending" },
  { id: "state", label: "State" },
  { id: "restarts", label: "Restarts", order: "descending" },
  { id: "mailbox", label: "Mailbox", order: "descending" },
  { id: "rate", label: "Messages/s", order: "descending" },
  { id: "last", label: "Last error or note" },
];

/**
 * `shown()` is the picture on display, `terms()` the words of the search.
 *
 * @param {() => import("./picture.js").Picture} shown
 * @param {() => string[]} terms
 */
export function painter(shown, terms) {
  return (cells, element) => {
    const name = h("span.label");
    const inside = h("span.inside");
    const pill = h("house-pill");
    const restarts = h("span.number");
    const meter = h("console-meter");
    const rate = h("span.number");
    const spark = h("house-spark");
    const last = h("span.text");
    cells.name.append(name, inside);
    cells.state.append(pill);
    cells.restarts.append(restarts);
    cells.mailbox.append(meter);
    cells.rate.append(rate, spark);
    cells.last.append(last);
    /** @type {import("../messages").Console.Node | null} */
    let before = null;

    return (row) => {
      const picture = shown();
      const node = picture.nodes.get(row.key);
      element.classList.toggle("more", !node);
      if (!node) {
        put(name, row.extra);
        return;
      }
      const words = terms();
      highlight(name, nameOf(node), words);
      name.title = node.path;
      const within = row.open === false ? picture.children(node.path).length + node.folded : 0;
      put(inside, within ? format.count(within) : "");
      mark(element, "data-kind", node.kind);
      pill.state = stateOf(node);
      pill.title = node.trouble ?? "";
      put(restarts, format.count(node.restarts));
      mark(restarts, "data-zero", node.restarts === 0);
      mark(restarts, "data-tone", node.lately ? "warn" : null);
      meter.show(node);
      put(rate, format.rate(node.inside)); // of a branch: the sum of all actors in it
      mark(rate, "data-zero", node.inside === 0);
      spark.draw(picture.histories.get(node.path));
      const text = node.error ?? node.note ?? "";
      highlight(last, text, words);
      last.title = text;
      mark(last, "data-tone", node.error ? "bad" : null);
      if (before?.path === node.path && before.restarts < node.restarts) flash(element);
      before = node;
    };
  };
}

/** Sets a text with the searched words marked. */
function highlight(element, text, terms) {
  const shown = `${terms.join(" ")}\n${text}`;
  if (element.shown === shown) return;
  element.shown = shown;
  const parts = [];
  let rest = 0;
  for (const [start, end] of places(text.toLowerCase(), terms)) {
    if (start < rest) continue;
    parts.push(text.slice(rest, start), h("mark", {}, text.slice(start, end)));
    rest = end;
  }
  element.replaceChildren(...parts, text.slice(rest));
}

function places(text, terms) {
  const found = [];
  for (const term of terms) {
    const { length } = term;
    for (let at = text.indexOf(term); at !== -1; at = text.indexOf(term, at + length)) found.push([at, at + length]);
  }
  return found.sort(([a], [b]) => a - b);
}

const still = matchMedia("(prefers-reduced-motion: reduce)");

/** Draws the eye to an actor that has just been restarted. */
function flash(element) {
  if (!still.matches) element.animate({ backgroundColor: ["var(--flash)", "transparent"] }, 1500);
}
