/**
 * <agent-models>: which model answers, and where that holds: in this session alone, or in every session that has no
 * model of its own. A server that does not answer is told of, with what to do.
 *
 * Events: "model" {model, here}, "usual" (this session gives up its own model).
 */

import { HouseElement, format, h, icon, put } from "../house/house.js";

/** @typedef {{provider: string, model_name: string, url?: string}} Chosen */

class AgentModels extends HouseElement {
  #list = h("fieldset.models", {}, h("legend.unseen", {}, "Model"));
  #here = h("input", { type: "radio", name: "where", value: "here", checked: true });
  #everywhere = h("input", { type: "radio", name: "where", value: "everywhere" });
  #where = h("fieldset.where", {}, h("legend", {}, "Use it"),
    h("label", {}, this.#here, h("span", {}, "for this session")),
    h("label", {}, this.#everywhere, h("span", {}, "for new sessions",
      h("span.about", {}, "and for all that have no model of their own"))));
  #said = h("p.wrong", { role: "alert" });
  #unreachable = h("ul.unreachable");
  #usual = h("button", { type: "button", hidden: true, onclick: () => this.announce("usual") });
  #yes = h("button.yes", { type: "submit" }, "Use it");
  #dialog = h("dialog", { ariaLabel: "Model" }, h("form", { onsubmit: (event) => this.#submitted(event) },
    h("header", {}, h("h2", {}, "Model"), h("button.quiet", { type: "button", title: "Close", ariaLabel: "Close",
      onclick: () => this.#dialog.close() }, icon("cross"))),
    this.#list, this.#unreachable, this.#where, this.#said, h("div.answers", {}, this.#yes, this.#usual)));
  #models = [];

  build() {
    this.append(this.#dialog);
  }

  /** The servers are asked what there is; that takes a moment. `session`: whether one is chosen. */
  open(session) {
    put(this.#said, "");
    this.#list.replaceChildren(this.#list.firstChild, h("p.waiting", { role: "status" }, "Asking the servers…"));
    this.#unreachable.replaceChildren();
    this.#usual.hidden = true;
    this.#yes.disabled = true;
    this.#where.hidden = !session;
    this.#here.checked = session;
    this.#everywhere.checked = !session;
    if (!this.#dialog.open) this.#dialog.showModal();
  }

  close() {
    this.#dialog.close();
  }

  /**
   * @param {{models: any[], unreachable?: string[]}} listed
   * @param {Chosen | null} usual the model of sessions without one of their own
   * @param {Chosen | null} own the session's own
   */
  show({ models, unreachable = [] }, usual, own) {
    this.#models = models;
    const used = own ?? usual;
    const rows = models.map((model, at) => {
      const chosen = used && model.provider === used.provider && (model.id === used.model_name || model.provider === "builtin")
        && (!used.url || !model.url || used.url === model.url);
      const about = [model.provider === "builtin" ? "searches and reads, and needs no server" : model.provider,
        model.context_window ? `${format.count(model.context_window)} tokens` : null, model.url].filter(Boolean).join(" · ");
      return h("label", {}, h("input", { type: "radio", name: "model", value: String(at), checked: Boolean(chosen) }),
        h("span", {}, h("b", {}, model.display_name || model.id), h("span.about", {}, about)));
    });
    this.#list.replaceChildren(this.#list.firstChild, ...rows);
    this.#unreachable.replaceChildren(...unreachable.map((sentence) => h("li", {}, icon("alarm"), h("span", {}, sentence))));
    this.#usual.hidden = !own;
    if (own) put(this.#usual, `Back to the usual one${usual ? ` (${usual.model_name})` : ""}`);
    this.#yes.disabled = !models.length;
    const first = /** @type {HTMLElement | null} */ (this.#list.querySelector("input:checked") ?? this.#list.querySelector("input"));
    first?.focus();
  }

  refused(sentence) {
    this.#list.querySelector(".waiting")?.remove();
    put(this.#said, sentence);
  }

  #submitted(event) {
    event.preventDefault();
    const chosen = /** @type {HTMLInputElement | null} */ (this.#list.querySelector("input:checked"));
    const model = chosen && this.#models[Number(chosen.value)];
    if (!model) {
      this.refused("Choose a model first.");
      return;
    }
    put(this.#said, "");
    this.announce("model", { model, here: this.#here.checked });
  }
}

customElements.define("agent-models", AgentModels);
