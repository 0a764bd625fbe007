/** <house-empty>: a text in a place where there is nothing yet. `empty.say(sentence, hint, action)`. */

import { HouseElement, h, put } from "./element.js";

class HouseEmpty extends HouseElement {
  #sentence = h("p.sentence");
  #hint = h("p.hint");

  build() {
    this.append(this.#sentence, this.#hint);
  }

  say(sentence, hint = "") {
    put(this.#sentence, sentence);
    put(this.#hint, hint);
  }
}

customElements.define("house-empty", HouseEmpty);
