/** <board-menu>: what can be done with the board as a whole. `menu.choices = [[label, action], ...]`. */

import { HouseElement, h, icon } from "../house/house.js";

class BoardMenu extends HouseElement {
  #panel = h("div.panel", { id: "board-menu-panel", popover: "auto" });

  build() {
    const names = { title: "Board", ariaLabel: "Board menu", popovertarget: this.#panel.id };
    this.append(h("button.quiet", { type: "button", ...names }, icon("more")), this.#panel);
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
