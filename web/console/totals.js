/** <console-totals>: the whole server in eight figures. `totals.show(picture, now)`. */

import { HouseElement, format, h, mark, must, put } from "../house/house.js";

const warnAbove = (value, limit = 0) => (value > limit ? "warn" : null);

/** @typedef {import("../messages").Console.Totals} Totals */

/** @type {{label: string, drawn?: boolean, value: (totals: Totals) => string, tone?: (totals: Totals) => string | null}[]} */
const FIGURES = [
  { label: "Messages/s", drawn: true, value: (totals) => format.rate(totals.rate) },
  { label: "Actors", value: ({ actors }) => format.count(actors) },
  { label: "Restarts", value: (totals) => format.count(totals.restarts), tone: (totals) => warnAbove(totals.restarts) },
  { label: "Crashes", value: ({ crashes }) => format.count(crashes), tone: ({ crashes }) => warnAbove(crashes) },
  {
    label: "Dead letters",
    value: (totals) => format.count(totals.dead_letters),
    tone: (totals) => warnAbove(totals.dead_letters),
  },
  { label: "Dropped", value: ({ dropped }) => format.count(dropped), tone: ({ dropped }) => warnAbove(dropped) },
  { label: "Loop lag", value: ({ lag }) => format.brief(lag), tone: ({ lag }) => warnAbove(lag, 0.05) },
  { label: "Memory", value: ({ memory }) => format.bytes(memory) },
];

class ConsoleTotals extends HouseElement {
  #spark = h("house-spark");
  #cells = FIGURES.map(({ label, drawn }) => {
    const value = h("dd.value", {}, "–");
    return { value, element: h("div.figure", {}, h("dt", {}, label), value, drawn ? h("dd", {}, this.#spark) : null) };
  });
  #about = h("p.about");

  build() {
    this.append(h("dl", {}, ...this.#cells.map(({ element }) => element)), this.#about);
  }

  /**
   * @param {import("./picture.js").Picture} picture
   * @param {number} now
   */
  show(picture, now) {
    const totals = must(picture.totals, "totals");
    FIGURES.forEach(({ value, tone }, index) => {
      const cell = this.#cells[index];
      put(cell.value, value(totals));
      mark(cell.value, "data-tone", tone ? tone(totals) : null);
    });
    const history = picture.histories.get("");
    this.#spark.draw(history);
    this.#spark.label = "Messages per second over the last minute";
    const handled = format.count(totals.handled);
    const up = format.span(picture.time(now) - picture.started);
    put(this.#about, `${handled} messages handled\nTroupe ${picture.version} · process ${picture.pid} · up ${up}`);
  }
}

customElements.define("console-totals", ConsoleTotals);
