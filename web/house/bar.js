/**
 * <house-bar product="Troupe" page="console">: the top of every page. The name, the way to every system's page, the
 * state of the connection, and the theme. `bar.systems = [{name, url, sentence}]`, `bar.connection = "live"`. What a
 * page puts inside stands before the connection; `home` says where the name leads, if not to the page's own folder.
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

class HouseBar extends HouseElement {
  #links = h("ul");
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
      ...own,
      this.#pill,
      this.#themeButton,
    );
    this.#nameTheme();
  }

  set systems(systems) {
    const pages = systems.map(({ name, url }) => [name, safeLink(url)]).filter(([, href]) => href);
    const shown = JSON.stringify(pages);
    if (shown === this.#shown) return;
    this.#shown = shown;
    const here = this.getAttribute("page");
    this.#links.replaceChildren(...pages.map(([name, href]) =>
      h("li", {}, h("a", { href, ariaCurrent: name === here ? "page" : null }, name))));
    this.#links.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }

  set connection(state) {
    this.#pill.state = state;
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
