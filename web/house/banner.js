/**
 * <house-banner>: says that the connection is lost, since when, why, and when the next attempt is.
 * `banner.socket = socket`; null: there is none now, and nothing is wrong. While the page is not live, `<html data-stale>` is set, and elements of the class `live`
 * turn grey. A screen reader reads the event out at once, but not the seconds that count down.
 */

import { HouseElement, h, mark, put } from "./element.js";
import { span } from "./format.js";
import { icon } from "./icons.js";

class HouseBanner extends HouseElement {
  /** @type {import("./socket.js").LiveSocket | null} */
  #socket = null;
  #said = h("span", { role: "alert" });
  #counted = h("span");
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #clock;
  #wasLive = false;

  build() {
    this.hidden = true;
    mark(this, "role", "region");
    mark(this, "aria-label", "Connection");
    const retry = h("button", { type: "button", onclick: () => this.#socket?.retry() }, "Try now");
    this.append(icon("alarm"), h("p", {}, this.#said, " ", this.#counted), retry);
  }

  disconnected() {
    clearInterval(this.#clock);
  }

  set socket(socket) {
    this.#socket = socket;
    if (socket) this.listen(socket, "state", () => this.#show());
    this.#show();
  }

  #show() {
    const { state, retryAt } = this.#socket ?? { state: "live", retryAt: null };
    const live = state === "live";
    // While a page that was just opened makes its first attempt, there is no alarm.
    this.#wasLive ||= live || state === "waiting";
    this.hidden = live || !this.#wasLive;
    document.documentElement.toggleAttribute("data-stale", !this.hidden);
    clearInterval(this.#clock);
    if (this.hidden || !this.#socket) return;
    const { lostAt, reason } = this.#socket;
    put(this.#said, `${lostAt ? "Connection lost." : "No connection."}${reason ? ` “${reason}”` : ""}`);
    this.#count();
    if (retryAt) this.#clock = setInterval(() => this.#count(), 1000);
  }

  #count() {
    if (!this.#socket) return;
    const { lostAt, retryAt } = this.#socket;
    const next = retryAt ? `Trying again in ${span(Math.max(1, (retryAt - Date.now()) / 1000))}.` : "Trying again now.";
    put(this.#counted, lostAt ? `Offline for ${span((Date.now() - lostAt) / 1000)}. ${next}` : next);
  }
}

customElements.define("house-banner", HouseBanner);
