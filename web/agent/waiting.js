/**
 * <agent-waiting>: that the agent waits for answers, above the field, wherever the transcript stands; and what can be
 * answered for several changes at once. Commands are answered one by one.
 *
 * Events: "go" (to the first one), "all" {approved}.
 */

import { HouseElement, h, icon, put } from "../house/house.js";
import { narrow } from "./narrow.js";
import { titleOf } from "./requests.js";

/** Characters of what is shown of the first request. All of it stands in its card. */
const [LONGEST_PATH, LONGEST_IF_NARROW, LONGEST] = [60, 36, 120];

class AgentWaiting extends HouseElement {
  #said = h("b");
  #which = h("span.which");
  #suspended = h("span.suspended", { hidden: true });
  #go = h("button", { type: "button", onclick: () => this.announce("go") }, "Show", h("kbd", { ariaHidden: "true" }, "w"));
  #yes = h("button.all", { type: "button", onclick: () => this.announce("all", { approved: true }) });
  #no = h("button.none", { type: "button", onclick: () => this.announce("all", { approved: false }) }, "Reject all…");

  build() {
    this.hidden = true;
    this.append(icon("alarm"), h("p", {}, this.#said, " ", this.#which, this.#suspended), h("div.buttons", {}, this.#go, this.#yes, this.#no));
  }

  /** @param {import("./requests.js").Request[]} waiting @param {string} suspended since when, in a sentence; "": it is not */
  show(waiting, suspended) {
    const held = this.contains(document.activeElement);
    this.hidden = !waiting.length;
    const changes = waiting.filter(({ kind }) => kind === "patch").length;
    put(this.#said, waiting.length === 1 ? "The agent waits for your answer:" : `The agent waits for ${waiting.length} answers:`);
    const title = waiting.length ? titleOf(waiting[0], narrow.matches ? LONGEST_IF_NARROW : LONGEST_PATH) : "";
    put(this.#which, `${title.length > LONGEST ? `${title.slice(0, LONGEST)}…` : title}${waiting.length > 1 ? ",\u00a0…" : ""}`);
    this.#suspended.hidden = !suspended;
    put(this.#suspended, suspended);
    this.#yes.hidden = this.#no.hidden = changes < 2;
    put(this.#yes, `Approve all ${changes} changes`);
    return held && this.hidden;
  }
}

customElements.define("agent-waiting", AgentWaiting);
