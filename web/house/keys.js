/**
 * Tells whether a key is meant for the page.
 *
 * Text belongs to the field in which it was begun. If that field goes away under whoever types (another window has
 * answered, the server has taken back what it was about), the rest of the text is no key of the page: it is dropped,
 * until nothing has been typed for a second. Whoever leaves the field on their own, by any other key or by a click, is
 * heard at once.
 *
 * While a word is composed (Japanese, Chinese, Korean, accents), Enter accepts it and Escape discards it: neither key
 * is for the page. Safari reports the Enter that ends a composition only after the end, and marks it only by key code
 * 229.
 */

const PROCESSED = 229;

export function inComposition({ isComposing, keyCode }) {
  return isComposing || keyCode === PROCESSED;
}

const FIELDS = "input:not([type=radio], [type=checkbox]), textarea, select, [contenteditable]";

/** Whether keys that this element gets are text. @param {EventTarget | null} target */
export function isField(target) {
  // Chromium 156: until the next frame the focus stays in a field of a dialog that has just been closed.
  return target instanceof Element && Boolean(target.closest(FIELDS)?.checkVisibility());
}

const PAUSE = 1_000; // ms
/** They are held for the next key, or are part of a letter that is to come. */
const NO_KEYS = new Set(["Shift", "Control", "Alt", "Meta", "AltGraph", "CapsLock", "Dead", "Process", "Unidentified"]);
let typed = -Infinity;

/** @param {KeyboardEvent} event */
function guard(event) {
  const { key, ctrlKey, metaKey, altKey, target } = event;
  if (NO_KEYS.has(key)) return;
  const isText = ([...key].length === 1 || key === "Backspace" || key === "Delete") && !ctrlKey && !metaKey && !altKey;
  const isInField = isField(target);
  const goesOn = !isInField && performance.now() - typed < PAUSE;
  typed = isText && (isInField || goesOn) ? performance.now() : -Infinity;
  if (!goesOn || (!isText && key !== "Enter")) return;
  event.preventDefault();
  event.stopImmediatePropagation();
}

/** Text was to follow, and no field has opened for it. */
export function dropText() {
  typed = performance.now();
}

window.addEventListener("keydown", guard, { capture: true });
window.addEventListener("pointerdown", () => (typed = -Infinity), { capture: true });
