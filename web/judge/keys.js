/**
 * The keyboard: one table, for the page's actions and for <judge-keys>, which explains the keys. Keys do nothing while
 * the user types in a field, while a dialog is open, or together with Ctrl, Alt or the like, which belong to the
 * browser and the editor.
 */

import { HouseElement, TYPING, h, icon } from "../house/house.js";

/**
 * [keys, their names for people, the wish in judge.js, its description].
 * @type {[keys: string[], written: string, wish: string, sentence: string][]}
 */
const KEYS = [
  [["r"], "r", "runall", "Run all cases"],
  [["f"], "f", "runfailed", "Run the failed cases"],
  [["x"], "x", "runcurrent", "Run this case"],
  [["1", "2", "3", "4", "5", "6", "7", "8", "9"], "1 … 9", "runnumber", "Run case 1 … 9"],
  [["c"], "c", "cancel", "Cancel the run"],
  [["Escape"], "Esc", "escape", "Close the list that lies over the problem; else cancel the run"],
  [["j"], "j", "next", "Next case"],
  [["k"], "k", "previous", "Previous case"],
  [["Enter"], "Enter", "toggle", "Unfold or fold the case"],
  [["o"], "o", "fold", "Fold or unfold all cases"],
  [["g"], "g", "gofailed", "Go to the first failed case"],
  [["n"], "n", "nextdifference", "Next difference in this case"],
  [["p"], "p", "previousdifference", "Previous difference"],
  [["w"], "w", "blanks", "Show all blanks"],
  [["]"], "]", "nextproblem", "Next problem"],
  [["["], "[", "previousproblem", "Previous problem"],
  [["b"], "b", "list", "Show or hide the list of problems"],
  [["/"], "/", "search", "Search the problems"],
  [["t"], "t", "pin", "Stay with this problem when another one comes in, or follow again"],
  [["s"], "s", "settings", "Settings"],
  [["?"], "?", "help", "This list"],
];

const JUST_NOW = 2_000; // ms

const actions = new Map(KEYS.flatMap(([keys, , action]) => keys.map((key) => [key, action])));

let typed = -Infinity;

/** Whether the user is at the keyboard: the focus is in a field or in a dialog, or a key was pressed just now. */
export function isTyping() {
  if (document.querySelector("dialog[open]")) return true;
  const field = document.activeElement?.closest?.(TYPING)?.checkVisibility() ?? false;
  return document.hasFocus() && (field || performance.now() - typed < JUST_NOW);
}

/** Calls `act(action, key)` for each key that has a meaning. */
export function listenToKeys(act) {
  document.addEventListener("keydown", (event) => {
    const { key, ctrlKey, metaKey, altKey, defaultPrevented, repeat } = event;
    const target = event.target instanceof Element ? event.target : null;
    typed = performance.now();
    if (ctrlKey || metaKey || altKey || defaultPrevented) return;
    // Chromium 156: until the next frame the focus stays in a field of a dialog that has just been closed.
    const typing = target?.closest(TYPING)?.checkVisibility();
    if (typing || document.querySelector("dialog[open]")) return;
    if (key === "Enter" && target?.closest("button, a, label")) return;
    const action = actions.get(key);
    if (!action || (repeat && !["j", "k", "n", "p"].includes(key))) return;
    event.preventDefault();
    act(action, key);
  }, { capture: true }); // before the search field, which takes `/` for itself even where it is hidden
}

class JudgeKeys extends HouseElement {
  #dialog = h("dialog", { ariaLabel: "Keyboard" });

  build() {
    const close = h("button.quiet", { type: "button", title: "Close", ariaLabel: "Close",
      onclick: () => this.#dialog.close() }, icon("cross"));
    const rows = KEYS.map(([, written, , sentence]) => h("div", {},
      h("dt", {}, ...written.split(" ").map((key) => (key === "…" ? " … " : h("kbd", {}, key)))),
      h("dd", {}, sentence)));
    this.#dialog.append(h("header", {}, h("h2", {}, "Keyboard"), close), h("dl", {}, ...rows));
    this.#dialog.addEventListener("click", (event) => event.target === this.#dialog && this.#dialog.close());
    this.append(this.#dialog);
  }

  open() {
    this.#dialog.showModal();
  }
}

customElements.define("judge-keys", JudgeKeys);
