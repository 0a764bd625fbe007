/**
 * <desk-states>: how many requests are in which state, and which of them are shown. Announces "filter" {states}.
 * <desk-figures>: the age of the oldest request that is not over, what runs, and what is in quarantine.
 */

import { HouseElement, format, h, icon, mark, put } from "../house/house.js";
import { STATES } from "./states.js";

/** @import { Desk } from "../messages" */

const WORDS = /** @type {Desk.RequestFact["state"][]} */ (Object.keys(STATES));

class DeskStates extends HouseElement {
  /** @type {Set<string>} */
  chosen = new Set();
  #all = h("button.chip", { type: "button", onclick: () => this.choose([]) },
    h("span.word", {}, "All"), h("b.count", {}, "–"));
  #chips = WORDS.map((state) => {
    const [sign, tone, word] = STATES[state];
    const count = h("b.count", {}, "–");
    const button = h("button.chip", { type: "button", onclick: () => this.#toggle(state) },
      icon(sign), h("span.word", {}, word), count);
    button.dataset.tone = tone;
    return { state, button, count };
  });

  build() {
    this.append(this.#all, ...this.#chips.map(({ button }) => button));
    this.#draw();
  }

  /** @param {Desk.DeskTotals} totals */
  show({ by_state }) {
    put(this.#all.querySelector(".count"), format.count(Object.values(by_state).reduce((sum, each) => sum + each, 0)));
    for (const { state, button, count } of this.#chips) {
      put(count, format.count(by_state[state] ?? 0));
      mark(button, "data-zero", !by_state[state]);
    }
  }

  choose(states) {
    this.chosen = new Set(states);
    this.#draw();
    this.announce("filter", { states: [...this.chosen] });
  }

  #toggle(state) {
    const chosen = new Set(this.chosen);
    if (!chosen.delete(state)) chosen.add(state);
    this.choose(chosen);
  }

  #draw() {
    mark(this.#all, "aria-pressed", this.chosen.size === 0);
    for (const { state, button } of this.#chips) mark(button, "aria-pressed", this.chosen.has(state));
  }
}

class DeskFigures extends HouseElement {
  #oldest = h("dd", {}, "–");
  #running = h("dd", {}, "–");
  #quarantined = h("dd", {}, "–");

  build() {
    const figure = (label, value) => h("div.figure", {}, h("dt", {}, label), value);
    this.append(h("dl", {}, figure("Oldest open", this.#oldest), figure("Running here", this.#running),
      figure("Quarantine", this.#quarantined)));
  }

  /**
   * @param {Desk.DeskTotals} totals
   * @param {number} now
   */
  show({ oldest, running, quarantined }, now) {
    put(this.#oldest, oldest === undefined || oldest === null ? "–" : format.span(now - oldest));
    put(this.#running, format.count(running ?? 0));
    put(this.#quarantined, format.count(quarantined ?? 0));
    mark(this.#quarantined, "data-tone", quarantined ? "warn" : null);
  }
}

customElements.define("desk-states", DeskStates);
customElements.define("desk-figures", DeskFigures);
