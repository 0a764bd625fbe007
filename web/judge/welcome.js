/** <judge-welcome>: explains how to send the first problem; or, if there are problems, asks to choose one. */

import { HouseElement, h, put } from "../house/house.js";

const EXTENSION = "https://github.com/jmerle/competitive-companion";
const KNOWN_PORT = "10043"; // the extension posts to this port by default

class JudgeWelcome extends HouseElement {
  #title = h("h1");
  #steps = h("ol");

  build() {
    const own = location.port && location.port !== KNOWN_PORT;
    const port = own
      ? [h("strong", {}, `This judge listens on port ${location.port}.`),
        " In the extension's options, add it to the custom ports."]
      : ["Nothing has to be set up: the extension knows port ", h("code", {}, KNOWN_PORT), " of this machine already."];
    const link = h("a", { href: EXTENSION, target: "_blank", rel: "noopener noreferrer" }, "Competitive Companion");
    this.#steps.append(
      h("li", {}, h("p", {}, "Install ", link, " in your browser (Chrome, Firefox, Edge).")),
      h("li", {}, h("p", {}, ...port)),
      h("li", {}, h("p", {}, "Open a problem, or a whole contest, and press the extension's ",
        h("span.plus", { role: "img", ariaLabel: "green plus" }, "+"), " in the browser's toolbar.")),
      h("li", {}, h("p", {}, "The problem and its samples come up here, ready to be run.")));
    this.append(this.#title, this.#steps);
  }

  /** @param {import("./panel.js").Panel} panel */
  show({ told, problem, problems }) {
    this.hidden = !told || problem !== null;
    put(this.#title, problems.length ? "Choose a problem, or send another one" : "No problem yet");
  }
}

customElements.define("judge-welcome", JudgeWelcome);
