/** <judge-meter>: an amount beside its limit. `meter.show({text, share, title})`; `share` is null without a limit. */

import { HouseElement, h, mark, put } from "../house/house.js";

const NEAR = 0.8;

class JudgeMeter extends HouseElement {
  #text = h("span.amount");
  #fill = h("span.fill");
  #track = h("span.track", { ariaHidden: "true" }, this.#fill);

  build() {
    this.append(this.#text, this.#track);
  }

  show({ text, share, title }) {
    put(this.#text, text);
    mark(this, "title", title);
    mark(this.#track, "hidden", share === null ? "" : null);
    if (share === null) return;
    this.#fill.style.transform = `scaleX(${Math.min(1, share).toFixed(3)})`;
    mark(this, "data-tone", share > 1 ? "bad" : share >= NEAR ? "warn" : null);
  }
}

customElements.define("judge-meter", JudgeMeter);
