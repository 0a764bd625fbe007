/**
 * <run-output>: what the script prints, and its traceback if it fails. The end stays in sight unless the reader
 * scrolls. It is written once a frame. If very much is printed between two frames, only the newest part is written.
 */

import { HouseElement, h, put } from "../house/house.js";
import { Scrollback } from "../board/scrollback.js";

const NEAR = 24; // pixels from the end that still count as the end
const MOST_PENDING = 100_000; // characters

class RunOutput extends HouseElement {
  #pending = "";
  /** @type {number | null} */
  #frame = null;
  #atEnd = true;
  #scrollback = new Scrollback();
  #dropped = h("p.dropped", { hidden: true }, "Earlier lines are no longer kept.");
  #traceback = h("pre.traceback", { hidden: true, role: "alert" });
  #log = h("div.log", { tabIndex: 0, role: "log", ariaLabel: "Output" }, this.#dropped, this.#scrollback.element,
    this.#traceback);

  build() {
    this.append(this.#log);
    this.#log.onscroll = () => {
      const { scrollTop, scrollHeight, clientHeight } = this.#log;
      this.#atEnd = scrollHeight - scrollTop - clientHeight < NEAR;
    };
  }

  clear() {
    this.#pending = "";
    this.#atEnd = true;
    this.#scrollback.clear();
    this.#dropped.hidden = true;
    this.traceback = "";
  }

  print(text) {
    this.#pending += text;
    if (this.#pending.length > 2 * MOST_PENDING) this.#pending = this.#tail();
    this.#soon();
  }

  set traceback(text) {
    put(this.#traceback, text);
    this.#traceback.hidden = text === "";
    this.#soon();
  }

  #tail() {
    this.#dropped.hidden = false;
    return this.#pending.slice(-MOST_PENDING);
  }

  #soon() {
    if (this.#frame === null) this.#frame = requestAnimationFrame(() => this.#paint());
  }

  #paint() {
    this.#frame = null;
    if (this.#pending.length > MOST_PENDING) this.#pending = this.#tail();
    if (this.#pending) this.#scrollback.append(this.#pending);
    this.#pending = "";
    if (this.#scrollback.shortened) this.#dropped.hidden = false;
    if (this.#atEnd) this.#log.scrollTop = this.#log.scrollHeight;
  }
}

customElements.define("run-output", RunOutput);
