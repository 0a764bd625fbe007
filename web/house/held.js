/**
 * A key that is held repeats. Its repeats belong to where it was pressed.
 *
 * Whoever holds Enter a moment too long on a button that asks a question has not answered the question, and whoever holds
 * `/` wants the search, and no slashes in it.
 *
 * Rules
 *   - Repeats do nothing once a dialog has come, or has gone, since the key was pressed.
 *   - They write nothing into a field that has got the focus since.
 *   - Enter presses a button, follows a link and sends a form once, however long it is held. Space presses nothing that has
 *     got the focus since.
 *   - All else goes on: text and new lines in their field, and keys that move. What a page's own keys do, shortcuts.js says.
 */

import { inComposition, isField } from "./keys.js";

const MODIFIERS = new Set(["Shift", "Control", "Alt", "Meta", "AltGraph"]);
const MOVES = new Set(["Tab", "ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight", "PageUp", "PageDown", "Home", "End"]);
const PRESSABLE = "button, a, summary, input, select";

/** Where the last key was pressed. @type {{target: EventTarget | null, dialog: Element | null} | null} */
let pressed = null;

const dialogNow = () => [...document.querySelectorAll("dialog[open]")].at(-1) ?? null;

/** @param {KeyboardEvent} event */
function hear(event) {
  if (inComposition(event) || MODIFIERS.has(event.key)) return;
  if (!event.repeat) {
    pressed = { target: event.target, dialog: dialogNow() };
  } else if (!goesOn(event)) {
    event.preventDefault();
    event.stopImmediatePropagation();
  }
}

/** @param {KeyboardEvent} event */
function goesOn({ key, target }) {
  if (!pressed || pressed.dialog !== dialogNow()) return false;
  const isThere = target === pressed.target;
  if (key === "Enter") return isThere && !(target instanceof Element && target.closest(PRESSABLE));
  if (key === " ") return isThere;
  return isThere || !isField(target) || MOVES.has(key);
}

window.addEventListener("keydown", hear, { capture: true });
