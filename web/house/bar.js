/**
 * <house-bar product="Troupe" page="console">: the top of every page, with the name, links to the pages of all systems,
 * the state of the connection, and the theme. `bar.systems = [{name, url}]`, `bar.connection = "live"`. The page's own
 * content of the bar is in front of the connection. `home` is the address behind the name, if it is not the page's own
 * folder.
 *
 * If the server does not send the page a list of the systems, the attribute `pages` says where the bar can fetch it.
 * The bar does so at the beginning, when a lost connection is back, and when the user returns to the page; and again and
 * again while a system is still missing, because a page may be back before the rest of the server. If there is no room
 * for the links beside the page's own content, a button opens them.
 */

import { HouseElement, h, mark } from "./element.js";
import { icon, turn } from "./icons.js";
import { chooseNext, theme } from "./theme.js";
import "./pill.js";

const SIGNS = { auto: "auto", light: "sun", dark: "moon" };

/** Addresses come from outside: only one that a browser would fetch becomes a link. Null for any other. */
export function safeLink(url) {
  if (!url) return null;
  try {
    const { protocol, href } = new URL(url, document.baseURI);
    return protocol === "http:" || protocol === "https:" ? href : null;
  } catch {
    return null;
  }
}

/** Milliseconds until a list is asked for again in which a system is missing. They double with each time. */
const FIRST_WAIT = 250;
const LONGEST_WAIT = 15_000;

let lastId = 0;

/** Systems that users know by another name than the settings do. */
const CALLED = { ipc: "desk" };

class HouseBar extends HouseElement {
  #links = h("ul");
  #folded = h("ul");
  #panel = h("div.panel", { id: `pages-${(lastId += 1)}`, popover: "auto" }, h("nav", { ariaLabel: "Pages" }, this.#folded));
  #places = h("button.quiet.places", { type: "button", title: "Pages", ariaLabel: "Pages", popovertarget: this.#panel.id },
    icon("stack"));
  #wasLive = false;
  #state = "";
  #pill = h("house-pill");
  #themeIcon = icon("auto");
  #themeButton = h("button.quiet", { type: "button", onclick: () => this.#turnTheme() }, this.#themeIcon);
  #shown = "";
  #wait = FIRST_WAIT;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #again;

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
    this.#pill.hidden = true; // the page has no connection
    mark(this, "data-shared", own.length > 0);
    this.#nameTheme();
  }

  connected() {
    this.#askAnew();
    this.listen(document, "visibilitychange", () => document.hidden || this.#askAnew());
  }

  disconnected() {
    clearTimeout(this.#again);
  }

  #askAnew() {
    this.#wait = FIRST_WAIT;
    this.#ask();
  }

  async #ask() {
    clearTimeout(this.#again);
    const place = this.getAttribute("pages");
    if (!place) return;
    try {
      const answer = await fetch(place);
      if (answer.ok) this.#hear(await answer.json());
    } catch {
      // the server does not answer now: the bar keeps the list it has
    }
  }

  /** A system without an address is switched on, but not up (yet). */
  #hear(systems) {
    this.systems = systems;
    clearTimeout(this.#again);
    if (document.hidden || !this.isConnected || systems.every(({ url }) => url !== null)) return;
    this.#again = setTimeout(() => this.#ask(), this.#wait);
    this.#wait = Math.min(2 * this.#wait, LONGEST_WAIT);
  }

  set systems(systems) {
    const pages = systems.map(({ name, url }) => [name, safeLink(url)]).filter(([, href]) => href);
    const shown = JSON.stringify(pages);
    if (shown === this.#shown) return;
    this.#shown = shown;
    for (const list of [this.#links, this.#folded]) {
      list.replaceChildren(...pages.map(([name, href]) => h("li", {}, h("a", { href, ariaCurrent: this.#at(name) }, CALLED[name] ?? name))));
    }
    this.#places.hidden = pages.length === 0;
    this.#links.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }

  /** Whether this page belongs to the system of that name: "page" for its first page, "true" for another one. */
  #at(name) {
    if (name === this.getAttribute("page")) return "page";
    return name === this.getAttribute("system") ? "true" : null;
  }

  set connection(state) {
    this.#pill.hidden = false;
    this.#pill.state = state;
    const before = this.#state;
    this.#state = state;
    if (state !== "live" || before === "silent") return; // who was silent for a while is the same server
    if (this.#wasLive) this.#askAnew();
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
