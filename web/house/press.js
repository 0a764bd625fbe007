/**
 * A click counts for the button on which it was begun.
 *
 * A page lives. While somebody presses a button, a row may come in above it, a card may fold, or a list may be drawn anew.
 * When the pointer is released, the browser then finds something else below it, and gives the click to nobody, or to
 * what happens to be there. Somebody has pressed a button, and nothing happens.
 *
 * Rules
 *   - Who releases the pointer where the button was when it was pressed has clicked that button, wherever it is by then.
 *   - Who takes the pointer away from there first has thought better of it, as everywhere.
 *   - What is drawn anew says what it is about: `data-key`, on the button or around it. The button at the same place in
 *     the element that has this key now stands in for the one that was pressed; and what has another key by then, is
 *     another, though it is the same element.
 *   - What is hidden, disabled, covered by a dialog or gone by then is not clicked. A click that the browser itself gives
 *     to the right one is left to it.
 *
 * This is for the mouse. A finger's tap is found where it ends, and scrolls where it moves.
 */

const PRESSABLE = "button, summary, a[href], label, input[type=checkbox], input[type=radio], [role=row]";

/** @typedef {{pressed: HTMLElement, part: HTMLElement, key: string | null, path: number[], box: DOMRect}} Press */

/** @type {Press | null} */
let held = null;
/** @type {Press | null} */
let released = null;

/** @param {PointerEvent} event */
function begin(event) {
  held = released = null;
  if (!event.isPrimary || event.button !== 0 || event.pointerType !== "mouse" || !(event.target instanceof Element)) return;
  const pressed = /** @type {HTMLElement | null} */ (event.target.closest(PRESSABLE));
  if (!pressed) return;
  const part = /** @type {HTMLElement} */ (event.target.closest("svg")?.parentElement ?? event.target);
  const keyed = keyedOf(pressed);
  held = { pressed, part, key: keyed?.dataset.key ?? null, path: keyed ? pathOf(part, keyed) : [], box: pressed.getBoundingClientRect() };
}

/** @param {PointerEvent} event */
function end(event) {
  const press = held;
  held = null;
  if (!press) return;
  const { left, right, top, bottom } = press.box;
  if (event.clientX < left || event.clientX > right || event.clientY < top || event.clientY > bottom) return;
  released = press;
  setTimeout(() => finish(press)); // the browser's own click comes before
}

/** @param {MouseEvent} event */
function hear(event) {
  if (!released || !event.isTrusted || !(event.target instanceof Element)) return;
  const [own] = standIn(released);
  if (own && event.target.closest(PRESSABLE) === own) {
    released = null;
  } else {
    event.preventDefault();
    event.stopImmediatePropagation();
  }
}

/** @param {Press} press */
function finish(press) {
  if (released !== press) return;
  released = null;
  const [own, part] = standIn(press);
  const dialog = document.querySelector("dialog:modal");
  if (!own?.checkVisibility({ visibilityProperty: true }) || own.matches(":disabled, [inert] *") || (dialog && !dialog.contains(own))) return;
  // as the mouse's own: one of a key would have no number
  (part instanceof HTMLElement ? part : own).dispatchEvent(new MouseEvent("click", { bubbles: true, cancelable: true, composed: true, detail: 1, view: window }));
}

/** What is now what was pressed, and the part of it. @param {Press} press @returns {[HTMLElement | null, Element | null]} */
function standIn({ pressed, part, key, path }) {
  if (pressed.isConnected && (keyedOf(pressed)?.dataset.key ?? null) === key) return [pressed, pressed.contains(part) ? part : null];
  const keyed = key === null ? null : document.querySelector(`[data-key="${CSS.escape(key)}"]`);
  /** @type {Element | null} */
  let found = keyed;
  for (const at of path) found = found?.children[at] ?? null;
  const own = /** @type {HTMLElement | null} */ ((found ?? keyed)?.closest(PRESSABLE) ?? null);
  return own?.localName === pressed.localName ? [own, found] : [null, null];
}

/** @param {Element} element */
const keyedOf = (element) => /** @type {HTMLElement | null} */ (element.closest("[data-key]"));

/** Which child of which child of `ancestor` it is. @param {Element} element @param {Element} ancestor */
function pathOf(element, ancestor) {
  /** @type {number[]} */
  const path = [];
  for (let each = element; each !== ancestor && each.parentElement; each = each.parentElement) path.unshift([...each.parentElement.children].indexOf(each));
  return path;
}

window.addEventListener("pointerdown", begin, true);
window.addEventListener("pointerup", end, true);
window.addEventListener("click", hear, true);
for (const given of ["pointercancel", "dragstart", "blur"]) window.addEventListener(given, () => (held = released = null), given !== "blur");
