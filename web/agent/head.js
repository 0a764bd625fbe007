/**
 * <agent-head>: the session's title, its model, how much of the model's window is used, and how many look at it.
 * Events: "models", "help", "sessions" (on a narrow page).
 */

import { HouseElement, format, h, icon, mark, put } from "../house/house.js";

class AgentHead extends HouseElement {
  #sessions = h("button.quiet.to-sessions", { type: "button", title: "Sessions", ariaLabel: "Sessions",
    ariaExpanded: "false", onclick: () => this.announce("sessions") }, icon("list"));
  #title = h("h1");
  #model = h("button.model", { type: "button", title: "Choose a model", onclick: () => this.announce("models") },
    icon("sliders"), h("span"));
  #meter = h("meter", { min: 0, max: 1, low: 0.7, high: 0.9, optimum: 0, value: 0 });
  #used = h("span.used");
  #usage = h("span.usage", { hidden: true }, this.#meter, this.#used);
  #help = h("button.quiet.help", { type: "button", title: "Keyboard", ariaLabel: "Keyboard",
    onclick: () => this.announce("help") }, icon("help"));
  #others = h("span.others", { hidden: true }, icon("eye"), h("span"));

  build() {
    this.append(this.#sessions, this.#title, this.#others, this.#usage, this.#model, this.#help);
  }

  /** @param {{title: string, model: any, used: number, window: number, clients: number}} facts */
  show({ title, model, used, window: most, clients }) {
    put(this.#title, title);
    this.#title.dir = "auto";
    mark(this.#title, "title", title);
    put(this.#model.lastChild, model ? model.model_name : "Model");
    mark(this.#model, "aria-label", `Model: ${model ? `${model.model_name} by ${model.provider}` : "none"}`);
    this.#usage.hidden = !most;
    if (most) {
      this.#meter.value = Math.min(1, used / most);
      put(this.#used, used && used < most / 100 ? "< 1 %" : `${Math.round((used / most) * 100)} %`);
      mark(this.#usage, "title", `${format.count(used)} of ${format.count(most)} tokens of the model's window are used`);
      mark(this.#meter, "aria-label", "Part of the model's window that is used");
    }
    this.#others.hidden = clients < 2;
    put(this.#others.lastChild, `${clients} windows`);
  }

  /** The button that shows the sessions on a narrow page. */
  focusSessions() {
    this.#sessions.focus();
  }

  set open(open) {
    mark(this.#sessions, "aria-expanded", open);
  }
}

customElements.define("agent-head", AgentHead);
