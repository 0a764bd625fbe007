/**
 * <house-spark>: a small graph of a number over time, beginning at zero. `spark.draw(values)`, oldest first; NaN means
 * "not known yet" and leaves a gap at the start. A screen reader reads it only if `label` is set, because the number
 * itself is beside it.
 */

import { HouseElement, mark, svg } from "./element.js";

const HEIGHT = 20;
const INSET = 1.5;

class HouseSpark extends HouseElement {
  #area = svg("path", { class: "area" });
  #line = svg("path", { class: "line" });
  #drawing = svg("svg", { preserveAspectRatio: "none", "aria-hidden": "true" }, this.#area, this.#line);

  build() {
    this.append(this.#drawing);
  }

  set label(text) {
    mark(this, "role", "img");
    mark(this, "aria-label", text);
  }

  draw(values) {
    let peak = 0;
    for (const value of values) if (value > peak) peak = value;
    mark(this.#drawing, "viewBox", `0 0 ${values.length - 1} ${HEIGHT}`);
    mark(this, "data-flat", peak === 0 ? "" : null);

    const scale = peak === 0 ? 0 : (HEIGHT - 2 * INSET) / peak;
    let points = "";
    let first = -1;
    for (let at = 0; at < values.length; at += 1) {
      const value = values[at];
      if (Number.isNaN(value)) continue;
      if (first === -1) first = at;
      points += `${points ? "L" : "M"}${at} ${(HEIGHT - INSET - value * scale).toFixed(1)}`;
    }
    mark(this.#line, "d", points);
    mark(this.#area, "d", points && peak ? `${points}V${HEIGHT}H${first}Z` : "");
  }
}

customElements.define("house-spark", HouseSpark);
