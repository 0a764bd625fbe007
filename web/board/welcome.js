/** <board-welcome>: the text on an empty board. It shows a first script. `welcome.address` is the address for scripts.
*/

import { HouseElement, copy, h, put } from "../house/house.js";
import "./rooms.js";

const USUAL = /^ws:\/\/(localhost|127\.0\.0\.1|\[::1\]):5163$/; // the address that scripts use by default

const HEADINGS = ["No script is drawing here yet", "A script is connected, and nothing is drawn at the moment"];
const MANY = "Scripts are connected, and nothing is drawn at the moment";

class BoardWelcome extends HouseElement {
  #code = h("code");
  #heading = h("h2", {}, HEADINGS[0]);
  #list = h("room-list");
  #others = h("h3", { hidden: true }, "Other rooms");

  build() {
    const button = h("button", { type: "button", onclick: () => copy(`${this.#code.textContent}\n`, { shown: this.#code }) }, "Copy");
    this.append(
      this.#heading,
      h("p", {}, "Install the library:"),
      h("pre", {}, h("code", {}, "pip install sidekick-py")),
      h("div.over", {}, h("p", {}, "Then run this:"), button),
      h("pre.script", { tabIndex: 0, role: "group", ariaLabel: "Script" }, this.#code),
      h("p.hint", {}, "What the script draws appears here at once. The page may be opened before or after it."),
      h("p.hint", {}, "No Python at hand? ", h("a", { href: "/script" }, "Run a script in the browser"), "."),
      h("div.others", {}, this.#others, this.#list),
    );
    this.#list.others = true;
    this.#list.addEventListener("rooms", ({ detail }) => (this.#others.hidden = detail === 0));
  }

  /** Whether it is shown. */
  set shown(shown) {
    if (this.hidden === !shown) return;
    this.hidden = !shown;
    if (shown) this.#list.look();
  }

  /** How many scripts are connected. */
  set scripts(count) {
    put(this.#heading, HEADINGS[count] ?? MANY);
  }

  /** The path of this page's room. */
  set here(path) {
    this.#list.here = path;
  }

  set address(address) {
    const place = USUAL.test(address) ? [] : [`sidekick.set_url("${address}")`];
    const drawing = ['sidekick.Grid(8, 8).set_color(3, 4, "gold")', "sidekick.run_forever()"];
    this.#code.textContent = ["import sidekick", ...place, ...drawing].join("\n");
  }
}

customElements.define("board-welcome", BoardWelcome);
