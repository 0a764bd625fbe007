/**
 * <house-empty>: a text in a place where there is nothing yet, and what can be done about it.
 * `empty.say(sentence, hint, action)`; the button of that name announces "action".
 */

import { HouseElement, h, put } from "./element.js";

class HouseEmpty extends HouseElement {
  #sentence = h("p.sentence");
  #hint = h("p.hint");
  #action = h("button.action", { type: "button", hidden: true, onclick: () => this.announce("action") });

  build() {
    this.append(this.#sentence, this.#hint, this.#action);
  }

  say(sentence, hint = "", action = "") {
    put(this.#sentence, sentence);
    put(this.#hint, hint);
    put(this.#action, action);
    this.#action.hidden = !action;
  }
}

customElements.define("house-empty", HouseEmpty);
