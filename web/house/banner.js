/**
 * <house-banner>: says that the connection is lost, since when, why, and when the next attempt is; or that the server does
 * not answer, though the connection stands, and since when. `banner.socket = socket`; null: there is none now, and nothing
 * is wrong. While the page is not live, `<html data-stale>` is set, and elements of the class `live` turn grey. A screen
 * reader reads the event out at once, but not the seconds that count down.
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
  #retry = h("button", { type: "button", onclick: () => this.#socket?.retry() }, "Try now");
  #wasLive = false;

  build() {
    this.hidden = true;
    mark(this, "role", "region");
    mark(this, "aria-label", "Connection");
    this.append(icon("alarm"), h("p", {}, this.#said, " ", this.#counted), this.#retry);
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
    const condition = this.#socket?.condition ?? "live";
    const live = condition === "live";
    // While a page that was just opened makes its first attempt, there is no alarm.
    this.#wasLive ||= live || condition === "waiting";
    this.hidden = live || !this.#wasLive;
    document.documentElement.toggleAttribute("data-stale", !this.hidden);
    clearInterval(this.#clock);
    if (this.hidden || !this.#socket) return;
    const { lostAt, reason, retryAt, silentSince } = this.#socket;
    const lost = `${lostAt ? "Connection lost." : "No connection."}${reason ? ` “${reason}”` : ""}`;
    put(this.#said, silentSince === null ? lost : "The server does not answer.");
    this.#retry.hidden = silentSince !== null; // it would not be heard on another connection either
    this.#count();
    if (retryAt || silentSince !== null) this.#clock = setInterval(() => this.#count(), 1000);
  }

  #count() {
    if (!this.#socket) return;
    const { lostAt, retryAt, silentSince } = this.#socket;
    const since = (at) => span((Date.now() - at) / 1000);
    if (silentSince !== null) {
      put(this.#counted, `It has been silent for ${since(silentSince)}. What you do reaches it when it goes on.`);
      return;
    }
    const next = retryAt ? `Trying again in ${span(Math.max(1, (retryAt - Date.now()) / 1000))}.` : "Trying again now.";
    put(this.#counted, lostAt ? `Offline for ${since(lostAt)}. ${next}` : next);
  }
}

customElements.define("house-banner", HouseBanner);
