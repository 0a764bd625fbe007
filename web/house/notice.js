/**
 * <house-notices>: short messages that disappear after a while. They are read out politely. Any code can call
 * `notify("Path copied")`. At most three are shown, and a repeated text replaces the earlier one. They lie over the page,
 * unless it has a place of its own for them.
 */

import { HouseElement, h } from "./element.js";

const SHOWN_FOR = 5000;
const MOST = 3;

class HouseNotices extends HouseElement {
  build() {
    this.setAttribute("role", "status");
  }

  add(text) {
    for (const old of [...this.children]) if (old.textContent === text) old.remove();
    const notice = h("p.notice", {}, text);
    this.append(notice);
    while (this.children.length > MOST) this.firstElementChild?.remove();
    setTimeout(() => notice.remove(), SHOWN_FOR);
  }
}

customElements.define("house-notices", HouseNotices);

let notices = null;

export function notify(text) {
  notices ??= document.querySelector("house-notices") ?? document.body.appendChild(document.createElement("house-notices"));
  notices.add(text);
}
