/**
 * The ground every element of the house stands on.
 *
 * Elements live in the light DOM: one stylesheet serves them all, a page can lay them out, and nothing has to be
 * pierced to test them. Text reaches the document as text and in no other way: there is no `innerHTML` in this tree, so
 * a name or an error that contains markup is shown, never run.
 */

const SVG = "http://www.w3.org/2000/svg";

/**
 * Makes an element: `h("a.name.strong", {href, onclick, ariaLabel}, "text", child)`.
 * A property the element knows is set as a property (so `onclick` takes a function), any other as an attribute.
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

/** The same for SVG, where everything is an attribute. */
export function svg(tag, attributes = {}, ...children) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/** Sets text, class or attribute only when it differs, so that a tick without news costs no layout. */
export function put(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** False takes an attribute away, but to ARIA it is a word: what is folded could be open, what is off could be on. */
export function mark(element, name, value) {
  const text = value === null || (value === false && !name.startsWith("aria-")) ? null : String(value);
  if (element.getAttribute(name) === text) return;
  if (text === null) element.removeAttribute(name);
  else element.setAttribute(name, text);
}

export class HouseElement extends HTMLElement {
  #built = false;
  #life = null;

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

  /** Makes the content, once. */
  build() {}

  /** Each time the element enters and leaves a document. */
  connected() {}
  disconnected() {}

  /** Listens to something outside this element for as long as the element is in a document. */
  listen(target, type, handler, options = {}) {
    target.addEventListener(type, handler, { ...options, signal: this.#life.signal });
  }

  announce(type, detail) {
    this.dispatchEvent(new CustomEvent(type, { detail, bubbles: true }));
  }
}
