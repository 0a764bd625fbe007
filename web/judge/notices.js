/**
 * <judge-notices>: messages of the server to the user. `notices.add(level, message)`, and `notices.remove(message)` if it
 * is not true any more.
 *
 * A message of the level "info" disappears when there was time to read it, but not while the pointer or the focus is on
 * it. An error stays until it is closed. A repeated message is counted, and not shown twice. If there are too many, the
 * oldest disappear.
 */

import { HouseElement, h, icon, put } from "../house/house.js";

const MOST = 4;
const SIGNS = { info: ["disc", "info"], warn: ["alarm", "warn"], error: ["alarm", "bad"] };
const readingTime = (text) => 4_000 + 60 * text.length;

class JudgeNotices extends HouseElement {
  #known = new Map(); // message -> {element, times, count}

  build() {
    // A modal dialog covers everything else; a popover is shown above it.
    this.popover = "manual";
    this.ariaLabel = "Notices";
    this.setAttribute("role", "region");
  }

  add(level, message) {
    const known = this.#known.get(message);
    if (known) {
      known.times += 1;
      put(known.count, `×${known.times}`);
      this.#pass(known, message, level);
      return;
    }
    const [sign, tone] = SIGNS[level] ?? SIGNS.info;
    const count = h("b.count");
    const close = h("button.quiet", { type: "button", title: "Close", ariaLabel: "Close this notice",
      onclick: () => this.remove(message) }, icon("cross"));
    const element = h("div.note", { "data-tone": tone, role: level === "error" ? "alert" : "status" },
      icon(sign), h("p", {}, message), count, close);
    const note = { element, count, times: 1, timer: null };
    this.#known.set(message, note);
    this.append(element);
    if (this.isConnected && this.hidePopover) {
      if (this.matches(":popover-open")) this.hidePopover();
      this.showPopover();
    }
    while (this.#known.size > MOST) this.remove(this.#known.keys().next().value);
    this.#pass(note, message, level);
  }

  #pass(note, message, level) {
    clearTimeout(note.timer);
    if (level === "error") return;
    note.timer = setTimeout(() => {
      if (note.element.matches(":hover, :focus-within")) this.#pass(note, message, level);
      else this.remove(message);
    }, readingTime(message));
  }

  remove(message) {
    const note = this.#known.get(message);
    if (!note) return;
    clearTimeout(note.timer);
    note.element.remove();
    this.#known.delete(message);
    if (this.#known.size === 0) this.hidePopover?.();
  }
}

customElements.define("judge-notices", JudgeNotices);
