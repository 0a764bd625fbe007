/** <desk-welcome>: what stands in place of the list while there has been no request: how the first one is submitted. */

import { HouseElement, copy, h, icon } from "../house/house.js";

const COMMAND = "troupe ipc submit ping --wait";
const PYTHON = `from troupe.ipc import Desk
with Desk.blocking() as desk:
    print(desk.run("ping"))`;

class DeskWelcome extends HouseElement {
  build() {
    this.append(
      h("p.sentence", {}, "No requests yet."),
      h("p", {}, "They appear here as they are submitted. In a terminal:"), this.#code(COMMAND, "Copy the command"),
      h("p", {}, "Or in a script:"), this.#code(PYTHON, "Copy the lines"));
  }

  #code(text, label) {
    const lines = h("pre", {}, text);
    const button = h("button.quiet", { type: "button", title: label, ariaLabel: label,
      onclick: () => copy(text, { shown: lines }) }, icon("copy"));
    return h("div.code", {}, lines, button);
  }
}

customElements.define("desk-welcome", DeskWelcome);
