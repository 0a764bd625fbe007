/**
 * <house-prose>: a rendered text with headings, lists, tables and code. `prose.html = "<p>...</p>"`.
 *
 * The server has cleaned the HTML already. Here it is parsed (a parsed document runs nothing and loads nothing) and
 * built anew from the elements and attributes that are listed below. So nothing else can reach the page, even if the
 * cleaning should fail one day. An element that is not listed is replaced by its content.
 */

import { safeLink } from "./bar.js";
import { HouseElement, h } from "./element.js";

const PLAIN =
  "h1 h2 h3 h4 h5 h6 p blockquote ul ol li dl dt dd pre code kbd samp em i strong b del s ins sub sup mark u small " +
  "br hr table thead tbody tfoot tr th td caption div span abbr details summary";
const KEPT = new Set(PLAIN.split(" "));
const DROPPED = new Set(["script", "style", "template", "iframe", "object", "svg", "math", "noscript", "title"]);
const WORDS = { align: /^(left|center|right)$/, start: /^\d{1,9}$/, class: /^language-[\w+#.-]{1,40}$/ };
const DEEPEST = 200;

/** A link, if a browser would follow it. A page that it opens learns nothing of this one. */
function link(source) {
  const href = source.getAttribute("href");
  const target = href?.startsWith("mailto:") ? href : safeLink(href);
  return target ? h("a", { href: target, target: "_blank", rel: "noopener noreferrer" }) : h("span");
}

/**
 * An image. If it cannot be shown, its alternative text with a link to it, and why. (A page's policy allows pictures
 * from https alone, besides its own.)
 */
function image(source) {
  const src = safeLink(source.getAttribute("src"));
  const alt = source.getAttribute("alt") || "image";
  if (!src) return h("span", {}, alt);
  const isRefused = src.startsWith("http:") && new URL(src).origin !== location.origin;
  const why = isRefused ? "only pictures from https are shown" : "this picture could not be loaded";
  const instead = () => picture.replaceWith(
    h("a", { href: src, target: "_blank", rel: "noopener noreferrer" }, alt), h("small", {}, ` (${why})`));
  const picture = h("img", { alt, referrerPolicy: "no-referrer", loading: "lazy", onerror: instead, src });
  return picture;
}

/** The box of a task. The reader cannot tick it, because the text belongs to the script. */
function box(source) {
  const checked = source.hasAttribute("checked");
  return h("input", { type: "checkbox", checked, disabled: true, ariaLabel: checked ? "done" : "to do" });
}

function copy(source, target, depth) {
  for (const node of source.childNodes) {
    if (node.nodeType === Node.TEXT_NODE) target.append(node.data);
    if (node.nodeType !== Node.ELEMENT_NODE || DROPPED.has(node.localName) || depth > DEEPEST) continue;
    const made = element(node);
    copy(node, made ?? target, depth + 1);
    if (made) target.append(made);
  }
}

/** The empty element that replaces another one; null if only its content is allowed. */
function element(source) {
  if (source.localName === "a") return link(source);
  if (source.localName === "img") return image(source);
  if (source.localName === "input") return source.type === "checkbox" ? box(source) : null;
  if (!KEPT.has(source.localName)) return null;
  const made = document.createElement(source.localName);
  for (const [name, form] of Object.entries(WORDS)) {
    const value = source.getAttribute(name);
    if (value !== null && form.test(value)) made.setAttribute(name, value);
  }
  return made;
}

class HouseProse extends HouseElement {
  set html(html) {
    const parsed = new DOMParser().parseFromString(html, "text/html");
    const content = document.createDocumentFragment();
    copy(parsed.body, content, 0);
    for (const table of content.querySelectorAll("table")) {
      const frame = h("div.table", { tabIndex: 0, role: "group", ariaLabel: "Table" });
      table.replaceWith(frame);
      frame.append(table);
    }
    this.replaceChildren(content);
  }

  /** The text as it was written, until the rendered text is there. */
  set source(text) {
    this.replaceChildren(h("pre.source", {}, text));
  }
}

customElements.define("house-prose", HouseProse);
