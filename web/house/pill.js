/**
 * <house-pill>: a state as an icon, a word and a tone. `pill.state = "backoff"`, or `pill.said = ["clock", "idle", "waiting"]`
 * for a page that has states of its own. Only states that need attention have a colour.
 */

import { HouseElement, mark, put, h } from "./element.js";
import { icon, turn } from "./icons.js";

/** state: [sign, tone, word]. The states are those of actors, of systems, and of a connection. */
const STATES = {
  running: ["disc", "good", "running"],
  starting: ["half", "info", "starting"],
  backoff: ["again", "warn", "backoff"],
  restarted: ["again", "warn", "restarted"],
  paused: ["bars", "bad", "paused"],
  stopping: ["block", "idle", "stopping"],
  stopped: ["square", "idle", "stopped"],
  gone: ["cross", "idle", "gone"],

  up: ["disc", "good", "up"],
  down: ["alarm", "bad", "down"],
  failing: ["alarm", "bad", "failing"],
  off: ["ring", "idle", "off"],

  online: ["disc", "good", "online"],
  offline: ["ring", "idle", "offline"],

  live: ["disc", "good", "live"],
  connecting: ["half", "info", "connecting"],
  silent: ["clock", "warn", "not answering"],
  waiting: ["again", "bad", "disconnected"],
};

const UNKNOWN = (state) => ["ring", "idle", state];

class HousePill extends HouseElement {
  #icon = icon("ring");
  #word = h("span.word");

  build() {
    this.append(this.#icon, this.#word);
  }

  set state(state) {
    this.said = STATES[state] ?? UNKNOWN(state);
  }

  /** @param {string[]} said */
  set said([sign, tone, word]) {
    turn(this.#icon, sign);
    mark(this, "data-tone", tone);
    put(this.#word, word);
  }
}

customElements.define("house-pill", HousePill);
