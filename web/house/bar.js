/**
 * <house-bar product="Troupe" page="console">: the top of every page. The name, the way to every system's page, the
 * state of the connection, and the theme. `bar.systems = [{name, url}]`, `bar.connection = "live"`. What a
 * page puts inside stands before the connection; `home` says where the name leads, if not to the page's own folder.
 *
 * A page that is not told of the systems says with `pages` where the bar finds them: they are asked for at the
 * beginning, when a lost connection is back, and when somebody comes back to the page. Where there is no room for them
 * beside what the page puts into its bar, they stand behind a button.
 */

import { HouseElement, h, mark } from "./element.js";
import { icon, turn } from "./icons.js";
import { chooseNext, theme } from "./theme.js";
import "./pill.js";

const SIGNS = { auto: "auto", light: "sun", dark: "moon" };

/** Addresses come from outside: only what a browser would fetch becomes a link; null for anything else. */
export function safeLink(url) {
  if (!url) return null;
  try {
    const { protocol, href } = new URL(url, document.baseURI);
    return protocol === "http:" || protocol === "https:" ? href : null;
  } catch {
    return null;
  }
}

let lastId = 0;

class HouseBar extends HouseElement {
  #links = h("ul");
  #folded = h("ul");
  #panel = h("div.panel", { id: `pages-${(lastId += 1)}`, popover: "auto" }, h("nav", { ariaLabel: "Pages" }, this.#folded));
  #places = h("button.quiet.places", { type: "button", title: "Pages", ariaLabel: "Pages", popovertarget: this.#panel.id },
    icon("stack"));
  #wasLive = false;
  #pill = h("house-pill");
  #themeIcon = icon("auto");
  #themeButton = h("button.quiet", { type: "button", onclick: () => this.#turnTheme() }, this.#themeIcon);
  #shown = "";

  build() {
    mark(this, "role", "banner");
    const page = this.getAttribute("page");
    const href = this.getAttribute("home") ?? (page === "console" ? "#" : "./");
    const own = [...this.children];
    const sign = h("img", { src: new URL("mark.svg", import.meta.url).href, alt: "" });
    this.append(
      h("a.product", { href }, sign, this.getAttribute("product")),
      h("nav", { ariaLabel: "Pages" }, this.#links),
      this.#places,
      this.#panel,
      ...own,
      this.#pill,
      this.#themeButton,
    );
    this.#pill.hidden = true; // a page without a connection has none to lose
    mark(this, "data-shared", own.length > 0);
    this.#nameTheme();
  }

  connected() {
    this.#ask();
    this.listen(document, "visibilitychange", () => document.hidden || this.#ask());
  }

  async #ask() {
    const place = this.getAttribute("pages");
    if (!place) return;
    try {
      const answer = await fetch(place);
      if (answer.ok) this.systems = await answer.json();
    } catch {
      // the server is not there now: what was known of it stays
    }
  }

  set systems(systems) {
    const pages = systems.map(({ name, url }) => [name, safeLink(url)]).filter(([, href]) => href);
    const shown = JSON.stringify(pages);
    if (shown === this.#shown) return;
    this.#shown = shown;
    for (const list of [this.#links, this.#folded]) {
      list.replaceChildren(...pages.map(([name, href]) => h("li", {}, h("a", { href, ariaCurrent: this.#at(name) }, name))));
    }
    this.#places.hidden = pages.length === 0;
    this.#links.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }

  /** Whether this page is the system's first, or another one of it. */
  #at(name) {
    if (name === this.getAttribute("page")) return "page";
    return name === this.getAttribute("system") ? "true" : null;
  }

  set connection(state) {
    this.#pill.hidden = false;
    this.#pill.state = state;
    if (state !== "live") return;
    if (this.#wasLive) this.#ask();
    this.#wasLive = true;
  }

  #turnTheme() {
    chooseNext();
    this.#nameTheme();
  }

  #nameTheme() {
    turn(this.#themeIcon, SIGNS[theme]);
    mark(this.#themeButton, "aria-label", `Theme: ${theme}`);
    mark(this.#themeButton, "title", `Theme: ${theme}`);
  }
}

customElements.define("house-bar", HouseBar);
