/** <desk-timeline>: the attempts of a request on one line of time, from its acceptance to its end or to now. */

import { HouseElement, format, h, mark } from "../house/house.js";
import { lasted } from "./states.js";

/** @import { Desk } from "../messages" */

const LEAST = 0.6; // percent: what took no time is seen all the same

/** @param {Desk.Attempt} attempt */
export function toneOf({ outcome, late, ended }) {
  if (outcome?.type === "success") return "good";
  return outcome || late || ended ? "bad" : "info";
}

class DeskTimeline extends HouseElement {
  #track = h("ol.track");
  #from = h("span");
  #whole = h("span");
  #to = h("span");

  build() {
    this.append(this.#track, h("p.scale", {}, this.#from, this.#whole, this.#to));
  }

  /**
   * @param {Desk.RequestDetail} detail
   * @param {number} now
   */
  show({ fact, tried = [] }, now) {
    const open = fact.state === "waiting" || fact.state === "polling" || fact.state === "retrying";
    const ends = tried.map((attempt) => attempt.ended ?? now);
    const to = Math.max(open ? now : fact.changed, fact.created, ...ends);
    const from = Math.min(fact.created, ...tried.map(({ began }) => began));
    const whole = Math.max(to - from, 0.001);
    const share = (time) => (100 * (time - from)) / whole;
    while (this.#track.children.length > tried.length) this.#track.lastElementChild.remove();
    while (this.#track.children.length < tried.length) this.#track.append(h("li"));
    tried.forEach((attempt, index) => {
      const bar = /** @type {HTMLElement} */ (this.#track.children[index]);
      const left = Math.min(100 - LEAST, share(attempt.began));
      bar.style.insetInlineStart = `${left}%`;
      bar.style.inlineSize = `${Math.max(LEAST, share(ends[index]) - left)}%`;
      const took = attempt.seconds ?? Math.max(0, ends[index] - attempt.began);
      mark(bar, "data-tone", toneOf(attempt));
      mark(bar, "title", `Attempt ${attempt.number}: ${format.clock(attempt.began)}, ${lasted(took)}`);
      mark(bar, "aria-label", bar.title);
    });
    this.#from.textContent = format.clock(from);
    this.#whole.textContent = lasted(to - from);
    this.#to.textContent = open ? "now" : format.clock(to);
  }
}

customElements.define("desk-timeline", DeskTimeline);
