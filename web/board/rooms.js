/**
 * The list of rooms.
 *
 *   <board-rooms>   a button in the bar, and the list behind it
 *   <room-list>     the list itself. While it is visible, it is fetched every two seconds, so that it shows no room
 * that
 *                   has gone. `list.here` is the path of this page's own room
 *
 * The server lists rooms that have peers, or something on their boards.
 */

import { HouseElement, h, icon, mark, put } from "../house/house.js";
import { moment } from "./standing.js";

const EVERY = 2000; // milliseconds
const LISTED = 100; // rooms; if there are more, those that were drawn on last

const number = (count, one, many) => (count === 1 ? `1 ${one}` : `${count} ${many}`);

class RoomList extends HouseElement {
  here = "/";
  others = false; // whether this page's own room is left out
  #list = h("ul");
  #word = h("p.hint", { role: "status" });
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;
  /** @type {string | null} */
  #shown = null;

  build() {
    this.append(this.#list, this.#word);
  }

  connected() {
    this.listen(document, "visibilitychange", () => this.look());
    this.look();
  }

  disconnected() {
    clearTimeout(this.#timer);
  }

  /** Fetches the list now, and again after a while, if it is visible. */
  async look() {
    clearTimeout(this.#timer);
    if (document.hidden || !this.isConnected || !this.checkVisibility()) return;
    this.#timer = setTimeout(() => this.look(), EVERY);
    try {
      const answer = await fetch("/rooms.json", { cache: "no-store" });
      if (!answer.ok) throw new Error(await answer.text());
      this.#show((await answer.json()).rooms);
    } catch {
      this.#show([], "The list of rooms is not available at the moment.");
    }
  }

  #show(rooms, wrong = "") {
    const told = this.others ? rooms.filter(({ path }) => path !== this.here) : rooms;
    const more = told.length - LISTED;
    put(this.#word, wrong || (more > 0 ? `And ${number(more, "other", "others")}.` : ""));
    this.announce("rooms", told.length);
    const shown = JSON.stringify([told, new Date().toDateString()]);
    if (shown === this.#shown) return; // the entry with the focus stays as it is
    this.#shown = shown;
    const known = new Map([...this.#list.children].map((row) => [row.dataset.path, row]));
    const rows = told.slice(0, LISTED).map((room) => this.#row(known.get(room.path), room));
    for (const row of known.values()) if (!rows.includes(row)) row.remove();
    rows.forEach((row, index) => {
      const there = this.#list.children[index];
      if (there !== row) this.#list.insertBefore(row, there);
    });
  }

  #row(known, { name, path, scripts, pages, drawnAt }) {
    const row = known ?? h("li", {}, h("house-pill"), h("a", { href: path }, name), h("span.who"), h("span.when"));
    row.dataset.path = path;
    if (!row.isConnected) this.#list.append(row);
    const [pill, link, who, when] = row.children;
    mark(link, "aria-current", path === this.here ? "page" : null);
    pill.state = scripts ? "online" : "offline";
    const there = [scripts && number(scripts, "script", "scripts"), pages && number(pages, "page", "pages")];
    put(who, there.filter(Boolean).join(", ") || "nobody there");
    put(when, drawnAt === null ? "empty" : `drawn ${moment(drawnAt)}`);
    return row;
  }
}

customElements.define("room-list", RoomList);

let lastId = 0;

class BoardRooms extends HouseElement {
  #id = `rooms-${(lastId += 1)}`;
  #list = h("room-list");
  #panel = h("div.panel", { id: this.#id, popover: "auto" }, h("h2", {}, "Rooms"), this.#list);
  #button = h("button.rooms", { type: "button", popovertarget: this.#id, title: "All rooms", ariaLabel: "Rooms" },
    icon("list"), h("span.word", {}, "Rooms"));

  build() {
    this.append(this.#button, this.#panel);
    this.#panel.addEventListener("toggle", () => this.#list.look());
  }

  set here(path) {
    this.#list.here = path;
  }
}

customElements.define("board-rooms", BoardRooms);
