/**
 * <house-banner>: says that the connection is lost, since when, why, and what is being done about it.
 * `banner.socket = socket`. While the page is not live, `<html data-stale>` is set, and what has the class `live` turns
 * grey.
 */

import { HouseElement, h, put } from "./element.js";
import { span } from "./format.js";
import { icon } from "./icons.js";

class HouseBanner extends HouseElement {
  #socket = null;
  #text = h("p");
  #clock = null;
  #wasLive = false;

  build() {
    this.hidden = true;
    this.setAttribute("role", "alert");
    const retry = h("button", { type: "button", onclick: () => this.#socket.retry() }, "Try now");
    this.append(icon("alarm"), this.#text, retry);
  }

  disconnected() {
    clearInterval(this.#clock);
  }

  set socket(socket) {
    this.#socket = socket;
    this.listen(socket, "state", () => this.#show());
    this.#show();
  }

  #show() {
    const { state, retryAt } = this.#socket;
    const live = state === "live";
    // The first attempt of a page that has just been opened is not worth an alarm.
    this.#wasLive ||= live || state === "waiting";
    this.hidden = live || !this.#wasLive;
    document.documentElement.toggleAttribute("data-stale", !this.hidden);
    clearInterval(this.#clock);
    if (this.hidden) return;
    this.#count();
    if (retryAt) this.#clock = setInterval(() => this.#count(), 1000);
  }

  #count() {
    const { lostAt, retryAt, reason } = this.#socket;
    const why = reason ? ` “${reason}”` : "";
    const next = retryAt ? `Trying again in ${span(Math.max(1, (retryAt - Date.now()) / 1000))}.` : "Trying again now.";
    const lost = lostAt ? `Connection lost ${span((Date.now() - lostAt) / 1000)} ago.` : "No connection.";
    put(this.#text, `${lost}${why} ${next}`);
  }
}

customElements.define("house-banner", HouseBanner);
