/**
 * <console-crashes>, <console-stops>, <console-dead> and <console-departures>: actors that failed, actors that ended in
 * order, messages that no actor will handle, and pages and scripts that have left. There are four lists, so that many
 * entries of one kind do not displace the others. The newest entry comes first, and only a few are shown at first.
 * `list.show(notes, now)`: the newest note is the last one. Times are relative; the pointer or the focus shows the exact
 * time.
 */

import { HouseElement, format, h, mark, put } from "../house/house.js";
import { hashOf } from "./picture.js";

const FEW = 6;

/** An actor as a link: the path above it is dim, its name is not. */
/** @param {{path: string, called?: string | null}} note */
function actorLink({ path, called = null }) {
  const cut = path.lastIndexOf("/") + 1;
  const [where, who] = [path.slice(0, cut), called ?? path.slice(cut)];
  return h("a.path", { href: hashOf(path), title: path }, h("span.where", {}, where), h("span.who", {}, who));
}

function when(at) {
  return h("time", { dateTime: new Date(at * 1000).toISOString(), title: format.exact(at) },
    h("span.ago"), h("span.exact", {}, format.clock(at)));
}

class Notes extends HouseElement {
  #items = new Map(); // note -> list item
  #list = h("ol");
  #empty = h("house-empty", { hidden: true });
  #count = h("b.badge", {}, "0");
  #more = h("button.link", { type: "button", onclick: () => this.#openAll() });
  #all = false;
  #last = [[], 0];

  get #own() {
    return /** @type {typeof Notes & {heading: string, none: string[], tell: (note: object) => Node[]}} */ (this.constructor);
  }

  build() {
    this.append(h("h2", {}, this.#own.heading, " ", this.#count), this.#list, this.#more, this.#empty);
    this.#empty.say(...this.#own.none);
  }

  show(notes, now) {
    this.#last = [notes, now];
    const shown = notes.slice(this.#all ? 0 : -FEW).reverse();
    const kept = new Set(shown);
    for (const [note, item] of this.#items) {
      if (kept.has(note)) continue;
      item.remove();
      this.#items.delete(note);
    }
    let next = this.#list.firstElementChild;
    for (const note of shown) {
      if (!this.#items.has(note)) this.#items.set(note, this.#item(note));
      const item = this.#items.get(note);
      if (item === next) next = next.nextElementSibling;
      else this.#list.insertBefore(item, next);
      put(item.querySelector(".ago"), format.ago(now - note.at));
    }
    put(this.#count, format.count(notes.length));
    mark(this.#count, "data-zero", notes.length === 0);
    this.#more.hidden = notes.length <= FEW;
    put(this.#more, this.#all ? `Show the last ${FEW}` : `Show all ${notes.length}`);
    this.#empty.hidden = notes.length > 0;
  }

  #item(note) {
    return h("li", {}, h("div.first", {}, actorLink(note), when(note.at)), ...this.#own.tell(note));
  }

  #openAll() {
    this.#all = !this.#all;
    this.show(...this.#last);
  }
}

/** A text that may be long. */
function clip(text, properties) {
  const element = h("house-clip", properties);
  element.text = text;
  return element;
}

const WORDS = {
  crashed: "crashed",
  killed: "was killed",
  "never started": "did not start",
  done: "has finished",
  shutdown: "was stopped",
  "peer gone": "its page or script has gone",
};

/** @param {import("../messages").Console.StopNote} note */
function told({ why, message, restarts }) {
  const handling = message ? [" while handling ", h("code", {}, message)] : [];
  return h("p.what", {}, WORDS[why] ?? why, ...handling, restarts ? ", is restarted" : "");
}

class ConsoleCrashes extends Notes {
  static heading = "Crashes";
  static none = ["Nothing has crashed.", "Actors that crash are listed here. Ordinary ends do not push them out."];

  /** @param {import("../messages").Console.StopNote} note */
  static tell(note) {
    return [told(note), note.error && clip(note.error, { "data-tone": "bad" })];
  }
}

class ConsoleStops extends Notes {
  static heading = "Recent stops";
  static none = ["Nothing has stopped.", "Actors that end in order are listed here."];

  /** @param {import("../messages").Console.StopNote} note */
  static tell(note) {
    return [told(note), note.error && clip(note.error)];
  }
}

class ConsoleDepartures extends Notes {
  static heading = "Departures";
  static none = ["Nobody has left.", "Pages and scripts that have gone are listed here. They push nothing else out."];
  static tell = ConsoleStops.tell;
}

class ConsoleDead extends Notes {
  static heading = "Dead letters";
  static none = ["No dead letters.", "Messages that nobody will handle are listed here."];

  /** @param {import("../messages").Console.DeadNote} note */
  static tell({ message, why }) {
    return [clip(`${message}: ${why}`)];
  }
}

customElements.define("console-crashes", ConsoleCrashes);
customElements.define("console-stops", ConsoleStops);
customElements.define("console-dead", ConsoleDead);
customElements.define("console-departures", ConsoleDepartures);
