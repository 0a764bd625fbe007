/**
 * <board-peers>: the scripts and pages in this room. A short text in the bar opens a list of them, with their versions.
 * `peers.hear(payload)` takes an announce, `peers.forget()` is called when the connection is lost, and `peers.room` is
 * the heading of the list.
 */

import { HouseElement, h, mark, put } from "../house/house.js";

const MOST_GONE = 5; // scripts that have left and are still listed
let lastId = 0;

const names = { hero: "Script", sidekick: "Page" };

class BoardPeers extends HouseElement {
  #peers = new Map();
  #pill = h("house-pill");
  #count = h("span");
  #version = h("span.version"); // of the only script; a narrow bar does not show it, but the list does
  #word = h("span.word", {}, this.#count, this.#version);
  #id = `peers-${(lastId += 1)}`;
  #list = h("ul");
  #heading = h("h2", {}, "In this room");
  #panel = h("div.panel", { id: this.#id, popover: "auto" }, this.#heading, this.#list);
  #button = h("button.peers", { type: "button", popovertarget: this.#id }, this.#pill, this.#word);

  build() {
    this.append(this.#button, this.#panel);
    this.#show();
  }

  /** @param {Partial<import("../messages").Board.AnnouncePayload>} payload */
  hear({ peerId, role, status, version }) {
    this.#peers.delete(peerId);
    if (role === "hero" || status === "online") this.#peers.set(peerId, { role, status, version });
    const gone = [...this.#peers].filter(([, peer]) => peer.status !== "online");
    for (const [key] of gone.slice(0, -MOST_GONE)) this.#peers.delete(key);
    this.#show();
  }

  set room(name) {
    put(this.#heading, name);
  }

  forget() {
    this.#peers.clear();
    this.#show();
  }

  get heroes() {
    return [...this.#peers.values()].filter(({ role, status }) => role === "hero" && status === "online");
  }

  #show() {
    const { heroes } = this;
    this.#pill.state = heroes.length ? "online" : "offline";
    put(this.#count, ["No script", "Script"][heroes.length] ?? `${heroes.length} scripts`);
    put(this.#version, heroes.length === 1 ? ` ${heroes[0].version}` : "");
    mark(this.#button, "aria-label", `${this.#word.textContent}: who is in this room`);
    const rows = [...this.#peers].map(([key, { role, status, version }]) => {
      const pill = h("house-pill");
      const row = h("li", {}, h("span", {}, names[role] ?? role, " ", h("code", {}, key.slice(0, 8))), version, pill);
      return { row, pill, status };
    });
    this.#list.replaceChildren(...rows.map(({ row }) => row));
    for (const { pill, status } of rows) pill.state = status === "online" ? "online" : "offline";
    if (!rows.length) this.#list.append(h("li.none", {}, "Nobody but this page."));
  }
}

customElements.define("board-peers", BoardPeers);
