/**
 * The keyboard of the agent's page: one table, from which the page acts and <agent-keys> explains. No key but Escape
 * does anything while somebody types, and none while a dialog is open, or with Ctrl, Alt or the like. What a key answers
 * is the request that has the focus (answers.js).
 */

import { HouseElement, TYPING, h, icon } from "../house/house.js";

/** @type {[key: string, written: string, wish: string, sentence: string][]} */
const KEYS = [
  ["i", "i", "write", "Write a message"],
  ["Escape", "Esc", "stop", "Stop the turn"],
  ["w", "w", "request", "Go to what waits for your answer; again: to the next"],
  ["W", "Shift W", "back", "Go to the one before"],
  ["a", "a", "approve", "Approve the request that has the focus"],
  ["r", "r", "reject", "Reject it; you are asked why"],
  ["h", "h", "nextHunk", "Its next hunk; Space takes it or leaves it"],
  ["H", "Shift H", "lastHunk", "Its hunk before"],
  ["d", "d", "sides", "Changes side by side, or in one column"],
  ["u", "u", "undo", "Undo the last turn: first you see what that would do"],
  ["p", "p", "rules", "What the agent may do here"],
  ["/", "/", "search", "Search this folder"],
  ["n", "n", "create", "New session"],
  ["j", "j", "next", "Next session"],
  ["k", "k", "previous", "Previous session"],
  ["m", "m", "models", "Choose a model"],
  ["e", "e", "end", "Go to the end of the transcript"],
  ["?", "?", "help", "This list"],
];
const IN_THE_FIELD = [
  ["Enter", "Send; while a turn runs, it waits for its end"],
  ["Alt Enter", "Steer the turn: it hears it before its next step"],
  ["Shift Enter", "A new line"],
  ["↑", "In an empty field: to what waits for your answer"],
];

const IN_THE_SEARCH = [
  ["↑ ↓", "The place before, the next one"],
  ["Enter", "Put it into the message"],
  ["Alt Enter", "Copy path and line"],
];

const wishes = new Map(KEYS.map(([key, , wish]) => [key, wish]));
const REPEATED = new Set(["next", "previous", "nextHunk", "lastHunk", "request", "back"]);

/** Calls `act(wish)` for each key that means something. */
export function listenToKeys(act) {
  document.addEventListener("keydown", (event) => {
    const { key, ctrlKey, metaKey, altKey, defaultPrevented, repeat } = event;
    const target = event.target instanceof Element ? event.target : null;
    if (ctrlKey || metaKey || altKey || defaultPrevented || document.querySelector("dialog[open]")) return;
    if (target?.closest(TYPING) && key !== "Escape") return;
    const wish = wishes.get(key);
    if (!wish || (repeat && !REPEATED.has(wish))) return; // a key that is held answers once
    event.preventDefault();
    act(wish);
  });
}

class AgentKeys extends HouseElement {
  #dialog = h("dialog", { ariaLabel: "Keyboard" });

  build() {
    const close = h("button.quiet", { type: "button", title: "Close", ariaLabel: "Close",
      onclick: () => this.#dialog.close() }, icon("cross"));
    const row = (written, sentence) => h("div", {}, h("dt", {}, h("kbd", {}, written)), h("dd", {}, sentence));
    this.#dialog.append(h("header", {}, h("h2", {}, "Keyboard"), close),
      h("dl", {}, ...KEYS.map(([, written, , sentence]) => row(written, sentence))),
      h("h3", {}, "In the field"), h("dl", {}, ...IN_THE_FIELD.map(([written, sentence]) => row(written, sentence))),
      h("h3", {}, "In the search"), h("dl", {}, ...IN_THE_SEARCH.map(([written, sentence]) => row(written, sentence))),
      h("h3", {}, "In a plan that is approved"), h("dl", {}, row("Alt ↑ ↓", "Move the step")));
    this.#dialog.addEventListener("click", (event) => event.target === this.#dialog && this.#dialog.close());
    this.append(this.#dialog);
  }

  open() {
    this.#dialog.showModal();
  }
}

customElements.define("agent-keys", AgentKeys);
