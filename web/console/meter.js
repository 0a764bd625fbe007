/**
 * <console-meter>: how full a mailbox is: a bar and "12 / 256". `meter.show(node)`. In a row, an empty mailbox is not
 * drawn (console.css), because there is nothing to see.
 */

import { HouseElement, format, h, mark, put } from "../house/house.js";
import { fullness } from "./picture.js";

class ConsoleMeter extends HouseElement {
  #fill = h("span.fill");
  #queued = h("span.queued");
  #capacity = h("span.capacity");

  build() {
    this.append(h("span.track", { ariaHidden: "true" }, this.#fill), this.#queued, this.#capacity);
  }

  /** @param {import("../messages").Console.Node} node */
  show(node) {
    const full = fullness(node);
    const scale = `scaleX(${full.toFixed(3)})`;
    if (this.#fill.style.transform !== scale) this.#fill.style.transform = scale;
    mark(this, "data-tone", full >= 0.9 ? "bad" : full >= 0.6 ? "warn" : node.queued ? "busy" : "none");
    put(this.#queued, format.count(node.queued));
    put(this.#capacity, ` / ${format.count(node.capacity)}`);
  }
}

customElements.define("console-meter", ConsoleMeter);
