/**
 * <board-peers>: who draws here. A short word in the bar; behind it the list of all who are in the room, with their
 * versions. `peers.hear(payload)` takes an announce, `peers.forget()` is for a connection that was lost; `peers.room` is
 * what the list is headed with.
 */

import { HouseElement, h, mark, put } from "../house/house.js";

const MOST_GONE = 5; // scripts that have left and are still named
let lastId = 0;

const names = { hero: "Script", sidekick: "Page" };

class BoardPeers extends HouseElement {
  #peers = new Map();
  #pill = h("house-pill");
  #count = h("span");
  #version = h("span.version"); // of the only script; where the bar is narrow, in the list alone
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
