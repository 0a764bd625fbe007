/**
 * The keys of a page: one table, by which the page acts and <house-shortcuts> explains it.
 *
 * No key does anything while somebody types, while a dialog is open, or together with Ctrl, Alt or the like, which
 * belong to the browser and the editor. A key that is held answers once, unless it only moves.
 */

import { HouseElement, h } from "./element.js";
import { icon } from "./icons.js";
import { isField } from "./keys.js";

/**
 * @typedef {object} Shortcut
 * @property {string} sentence  what it does
 * @property {string} keys  as people write it: "Esc", "Shift W", "1 … 9"
 * @property {string} [wish]  what the page is asked for; none: an element does it by itself
 * @property {string[]} [pressed]  the keys as the browser names them, if it is not `keys` alone
 * @property {boolean} [moves]  it may be held
 * @property {boolean} [always]  also while somebody types
 */

/**
 * Calls `act(wish, key)` for each key that means something.
 *
 * @param {Shortcut[]} shortcuts
 * @param {(wish: string, key: string) => void} act
 * @param {{ capture?: boolean }} how  `capture`: before the elements
 */
export function listenToKeys(shortcuts, act, { capture = false } = {}) {
  const known = new Map(shortcuts.flatMap((each) => (each.pressed ?? [each.keys]).map((key) => [key, each])));
  document.addEventListener("keydown", (event) => {
    const { key, ctrlKey, metaKey, altKey, defaultPrevented, repeat } = event;
    const target = event.target instanceof Element ? event.target : null;
    const shortcut = known.get(key);
    if (!shortcut?.wish || ctrlKey || metaKey || altKey || defaultPrevented) return;
    if (document.querySelector("dialog[open]") || (isField(event.target) && !shortcut.always)) return;
    if (key === "Enter" && target?.closest("button, a, label")) return;
    if (repeat && !shortcut.moves) return;
    event.preventDefault();
    act(shortcut.wish, key);
  }, { capture });
}

class HouseShortcuts extends HouseElement {
  #dialog = h("dialog", { ariaLabel: "Keyboard" });

  build() {
    this.#dialog.addEventListener("click", (event) => event.target === this.#dialog && this.#dialog.close());
    this.append(this.#dialog);
  }

  /** Shows these, each list under its title. @param {Record<string, Shortcut[]>} lists */
  open(lists) {
    const close = h("button.quiet", { type: "button", title: "Close", ariaLabel: "Close",
      onclick: () => this.#dialog.close() }, icon("cross"));
    this.#dialog.replaceChildren(h("header", {}, h("h2", {}, "Keyboard"), close),
      ...Object.entries(lists).flatMap(([title, shortcuts]) => [title && h("h3", {}, title), list(shortcuts)]).filter(Boolean));
    this.#dialog.showModal();
  }
}

const list = (shortcuts) => h("dl", {}, ...shortcuts.map(({ keys, sentence }) => h("div", {},
  h("dt", {}, ...keys.split(" ").map((key) => (key === "…" ? " … " : h("kbd", {}, key)))), h("dd", {}, sentence))));

customElements.define("house-shortcuts", HouseShortcuts);
