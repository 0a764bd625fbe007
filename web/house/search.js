/**
 * <house-search label="Filter actors">: a text field. The key `/` moves the focus to it from anywhere, and Escape
 * empties and leaves it. Announces "filter" with the text in `detail`.
 */

import { HouseElement, h } from "./element.js";
import { icon } from "./icons.js";
import { inComposition, isField } from "./keys.js";

class HouseSearch extends HouseElement {
  #input = h("input", { type: "search", autocomplete: "off", spellcheck: false });
  #said = "";

  build() {
    const label = this.getAttribute("label");
    this.#input.ariaLabel = this.#input.placeholder = label;
    this.append(h("label", {}, icon("search"), this.#input, h("kbd", { ariaHidden: "true" }, "/")));
    this.#input.addEventListener("input", () => this.#say());
    this.#input.addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return;
      event.preventDefault(); // even while a word is composed: the browser would empty the field
      if (inComposition(event)) return;
      this.clear();
      this.#input.blur();
    });
  }

  connected() {
    this.listen(document, "keydown", (event) => {
      if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || isField(event.target)) return;
      event.preventDefault();
      this.#input.focus();
      this.#input.select();
    });
  }

  get value() {
    return this.#input.value;
  }

  clear() {
    this.#input.value = "";
    this.#say();
  }

  #say() {
    if (this.#input.value === this.#said) return;
    this.#said = this.#input.value;
    this.announce("filter", this.#said);
  }
}

customElements.define("house-search", HouseSearch);
