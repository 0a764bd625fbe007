/**
 * <judge-news>: changes of the list of problems while the page stayed with its own: problems that came in, each as a
 * link, and one that was taken off. `news.show(panel)`. Announces "open" with an id, "seen" with an id or null for all.
 */

import { HouseElement, h, icon } from "../house/house.js";
import { addressOf } from "./address.js";

const FEW = 3; // so many problems are named

class JudgeNews extends HouseElement {
  #shown = "";

  build() {
    this.setAttribute("role", "status");
    this.ariaLabel = "News of the list";
  }

  /** @param {import("./panel.js").Panel} panel */
  show({ arrived, removed }) {
    const wanted = JSON.stringify([arrived, removed]);
    this.hidden = !arrived.length && !removed;
    if (wanted === this.#shown) return;
    this.#shown = wanted;
    const focused = this.contains(document.activeElement);
    this.replaceChildren(arrived.length ? this.#new(arrived) : "", removed ? this.#off(removed) : "");
    if (focused) /** @type {HTMLElement | null} */ (this.querySelector("a, button"))?.focus();
  }

  #new(arrived) {
    const few = arrived.slice(0, FEW);
    const links = few.flatMap(({ id, name }, at) => [at ? ", " : "New: ", this.#link(id, name || id)]);
    const more = arrived.length - FEW;
    return h("div.note", { "data-key": "news of what came" }, h("p", {}, ...links, more > 0 ? ` and ${more} more, in the list` : ""),
      this.#close("Close what is new", () => this.announce("seen", null)));
  }

  #link(id, name) {
    return h("a", { href: addressOf(id), "data-key": `new ${id}`, onclick: (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
      event.preventDefault();
      this.announce("open", id);
    } }, name);
  }

  #off({ id, name }) {
    const words = " is off the list. Its folder stays as it is; sending the problem again brings it back. ";
    const undo = h("button.link", { type: "button", onclick: () => this.announce("open", id) }, "Undo");
    return h("div.note", { "data-key": `news of ${id}` }, h("p", {}, h("b", {}, name || id), words, undo),
      this.#close("Close this", () => this.announce("seen", id)));
  }

  #close(label, onclick) {
    return h("button.quiet", { type: "button", title: "Close", ariaLabel: label, onclick }, icon("cross"));
  }
}

customElements.define("judge-news", JudgeNews);
