/**
 * <agent-head>: the session's title, its model, how much of the model's window is used, how many look at it, and how far
 * the agent may go: its mode, and the policy.
 * Events: "models", "mode" {mode}, "rules", "help", "sessions" (on a narrow page).
 */

import { HouseElement, format, h, icon, mark, put } from "../house/house.js";

/** @type {[mode: string, word: string, about: string][]} */
const MODES = [
  ["plan", "Plan", "It reads and plans; nothing is written or run before you approve the plan"],
  ["ask", "Ask", "It asks before it writes or runs something"],
  ["auto", "Auto", "It writes without asking what the policy lets it write; commands ask as the policy says"],
];

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

  #mode = h("select.mode", { ariaLabel: "How far it goes", hidden: true, onchange: () => this.announce("mode", { mode: this.#mode.value }) },
    ...MODES.map(([mode, word]) => h("option", { value: mode }, word)));
  #rules = h("button.quiet.rules", { type: "button", title: "What the agent may do here", ariaLabel: "What the agent may do here",
    onclick: () => this.announce("rules") }, icon("lock"));

  build() {
    this.append(this.#sessions, this.#title, this.#others, this.#usage, this.#mode, this.#model, this.#rules, this.#help);
  }

  /** @param {{title: string, model: any, used: number, window: number, clients: number, mode: string | null, rules: boolean}} facts */
  show({ title, model, used, window: most, clients, mode, rules }) {
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
    this.#mode.hidden = mode === null;
    if (mode !== null && this.#mode.value !== mode) this.#mode.value = mode;
    mark(this.#mode, "title", MODES.find(([each]) => each === mode)?.[2] ?? null);
    this.#rules.hidden = !rules;
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
