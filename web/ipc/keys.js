/**
 * The keyboard of the desk: one table, from which the page acts and <desk-keys> explains. No key does anything while
 * somebody types, while a dialog is open, or with Ctrl, Alt or the like.
 */

import { HouseElement, TYPING, h, icon } from "../house/house.js";

/** @type {[keys: string[], written: string, wish: string, sentence: string][]} */
const KEYS = [
  [["j"], "j", "next", "Next request, as Arrow down"],
  [["k"], "k", "previous", "Previous request, as Arrow up"],
  [["Enter"], "Enter", "open", "Open the request"],
  [["Escape"], "Esc", "leave", "Close the request; else let go of what is picked"],
  [["x"], "x", "pick", "Pick the request, or let go of it, as the space bar"],
  [["r"], "r", "requeue", "Requeue what is picked; else the request"],
  [["c"], "c", "cancel", "Cancel what is picked; else the request"],
  [["a"], "a", "archive", "Archive what is picked; else the request"],
  [["g"], "g", "failed", "Show what gave up, or everything again"],
  [["/"], "/", "search", "Search"],
  [["?"], "?", "help", "This list"],
];

const wishes = new Map(KEYS.flatMap(([keys, , wish]) => keys.map((key) => [key, wish])));
const REPEATED = new Set(["next", "previous"]);

/** Calls `act(wish)` for each key that means something. */
export function listenToKeys(act) {
  document.addEventListener("keydown", (event) => {
    const { key, ctrlKey, metaKey, altKey, defaultPrevented, repeat } = event;
    const target = event.target instanceof Element ? event.target : null;
    if (ctrlKey || metaKey || altKey || defaultPrevented) return;
    if (target?.closest(TYPING) || document.querySelector("dialog[open]")) return;
    if (key === "Enter" && target?.closest("button, a, label")) return;
    const wish = wishes.get(key);
    if (!wish || wish === "search" || (repeat && !REPEATED.has(wish))) return; // the field takes `/` for itself
    event.preventDefault();
    act(wish);
  });
}

class DeskKeys extends HouseElement {
  #dialog = h("dialog", { ariaLabel: "Keyboard" });

  build() {
    const close = h("button.quiet", { type: "button", title: "Close", ariaLabel: "Close",
      onclick: () => this.#dialog.close() }, icon("cross"));
    const rows = KEYS.map(([, written, , sentence]) => h("div", {}, h("dt", {}, h("kbd", {}, written)), h("dd", {}, sentence)));
    this.#dialog.append(h("header", {}, h("h2", {}, "Keyboard"), close), h("dl", {}, ...rows));
    this.#dialog.addEventListener("click", (event) => event.target === this.#dialog && this.#dialog.close());
    this.append(this.#dialog);
  }

  open() {
    this.#dialog.showModal();
  }
}

customElements.define("desk-keys", DeskKeys);
