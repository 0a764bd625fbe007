/** <house-clip>: a long text of which only the beginning is shown, with a button for the rest. `clip.text = "..."`. */

import { HouseElement, h, mark, put } from "./element.js";

const SHORT = 120;

class HouseClip extends HouseElement {
  #body = h("span.body");
  #button = h("button.link", { type: "button", onclick: () => this.#open(!this.hasAttribute("open")) }, "Show all");

  build() {
    this.append(this.#body, this.#button);
  }

  set text(text) {
    put(this.#body, text);
    this.#button.hidden = text.length <= SHORT && !text.includes("\n");
  }

  #open(open) {
    this.toggleAttribute("open", open);
    mark(this.#button, "aria-expanded", open);
    put(this.#button, open ? "Show less" : "Show all");
  }
}

customElements.define("house-clip", HouseClip);
