/**
 * The base of all elements of the pages.
 *
 * Elements are in the light DOM: one stylesheet serves all of them, a page can lay them out, and tests can reach them.
 * Text gets into the document only as text: there is no `innerHTML` in this folder or the others, so a name or an error
 * that contains markup is shown, and never run.
 */

const SVG = "http://www.w3.org/2000/svg";

/**
 * Makes an element: `h("a.name.strong", {href, onclick, ariaLabel}, "text", child)`.
 * A property that the element has is set as a property (so `onclick` takes a function), any other as an attribute.
 * Children that are null or false are left out.
 */
export function h(selector, properties = {}, ...children) {
  const [tag, ...classes] = selector.split(".");
  const element = document.createElement(tag);
  if (classes.length) element.className = classes.join(" ");
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined) continue;
    if (name in element) element[name] = value;
    else element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null && child !== false));
  return element;
}

/** The same for SVG elements. All their properties are set as attributes. */
export function svg(tag, attributes = {}, ...children) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/**
 * The value, which the page's own HTML or an earlier step has made sure of. Without it the page is broken, and says what
 * is missing.
 *
 * @template T
 * @param {T} value
 * @param {string} what
 * @returns {NonNullable<T>}
 */
export function must(value, what) {
  if (value === null || value === undefined) throw new Error(`The page has no ${what}.`);
  return value;
}

/** Sets the text only if it differs, so that an update without changes costs no layout. */
export function put(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** The same for a text that has elements in it: `partsOf(text)` are the children of which it then consists. */
export function putParts(element, text, partsOf) {
  if (element.textContent !== text) element.replaceChildren(...partsOf(text));
}

/**
 * Sets an attribute only if it differs. `false` removes it, except for ARIA, where "false" is a value: it says that
 * something folded can be opened, or something that is off can be on.
 */
export function mark(element, name, value) {
  const text = value === null || (value === false && !name.startsWith("aria-")) ? null : String(value);
  if (element.getAttribute(name) === text) return;
  if (text === null) element.removeAttribute(name);
  else element.setAttribute(name, text);
}

export class HouseElement extends HTMLElement {
  #built = false;
  /** @type {AbortController} */
  #life;

  connectedCallback() {
    this.#life = new AbortController();
    if (!this.#built) {
      this.#built = true;
      this.build();
    }
    this.connected();
  }

  disconnectedCallback() {
    this.#life.abort();
    this.disconnected();
  }

  /** Makes the content. Called once. */
  build() {}

  /** Called each time the element enters a document; `disconnected` is called each time it leaves one. */
  connected() {}
  disconnected() {}

  /** Listens to a target outside of this element while the element is in a document. */
  listen(target, type, handler, options = {}) {
    target.addEventListener(type, handler, { ...options, signal: this.#life.signal });
  }

  announce(type, detail) {
    this.dispatchEvent(new CustomEvent(type, { detail, bubbles: true }));
  }
}
