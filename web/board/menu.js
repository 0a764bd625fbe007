/** <board-menu>: a menu of actions on the whole board. `menu.choices = [[label, action], ...]`. */

import { HouseElement, h, icon } from "../house/house.js";

class BoardMenu extends HouseElement {
  #panel = h("div.panel", { id: "board-menu-panel", popover: "auto" });

  build() {
    const names = { title: "Board", ariaLabel: "Board menu", popovertarget: this.#panel.id };
    this.append(h("button.quiet", { type: "button", ...names }, icon("more")), this.#panel);
    this.addEventListener("keydown", (event) => this.#walk(event));
  }

  /** In the open menu, the arrows go to the next entry and round, as in any menu; Home and End go to its ends. */
  #walk(event) {
    const choices = [...this.#panel.children];
    const at = choices.indexOf(document.activeElement);
    const to = { ArrowDown: at + 1, ArrowUp: at < 0 ? -1 : at - 1, Home: 0, End: -1 }[event.key];
    if (to === undefined || !this.#panel.matches(":popover-open")) return;
    event.preventDefault(); // the page would scroll
    choices.at(to % choices.length).focus();
  }

  set choices(choices) {
    const buttons = choices.map(([label, action]) => {
      const onclick = () => {
        this.#panel.hidePopover();
        action();
      };
      return h("button", { type: "button", onclick }, label);
    });
    this.#panel.replaceChildren(...buttons);
  }
}

customElements.define("board-menu", BoardMenu);
