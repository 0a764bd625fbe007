/** <board-welcome>: what stands on an empty board: how a first script looks. `welcome.address` is where scripts go. */

import { HouseElement, h, notify } from "../house/house.js";

const USUAL = /^ws:\/\/(localhost|127\.0\.0\.1|\[::1\]):5163$/; // where scripts look by themselves

class BoardWelcome extends HouseElement {
  #code = h("code");

  build() {
    const copy = h("button", { type: "button", onclick: () => this.#copy() }, "Copy");
    this.append(
      h("h2", {}, "No script is drawing here yet"),
      h("p", {}, "Install the library, then run this:"),
      h("pre", {}, h("code", {}, "pip install sidekick-py")),
      h("div.script", {}, h("pre", { tabIndex: 0, role: "group", ariaLabel: "Script" }, this.#code), copy),
      h("p.hint", {}, "What the script draws appears here at once. The page may be opened before or after it."),
      h("p.hint", {}, "No Python at hand? ", h("a", { href: "/script" }, "Run a script in the browser"), "."),
    );
  }

  set address(address) {
    const place = USUAL.test(address) ? [] : [`sidekick.set_url("${address}")`];
    const drawing = ['sidekick.Grid(8, 8).set_color(3, 4, "gold")', "sidekick.run_forever()"];
    this.#code.textContent = ["import sidekick", ...place, ...drawing].join("\n");
  }

  async #copy() {
    try {
      await navigator.clipboard.writeText(`${this.#code.textContent}\n`);
      notify("Copied");
    } catch {
      notify("The browser does not let this page copy. Select the lines instead.");
    }
  }
}

customElements.define("board-welcome", BoardWelcome);
