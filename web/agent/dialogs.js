/**
 * What the page asks in a dialog: <agent-question> (yes or no, or a line of text), <agent-folder> (which folder to work
 * in), <agent-models> (which model answers), and <agent-access> (the token), which takes the place of the page.
 */

import { HouseElement, format, h, icon, put } from "../house/house.js";

class AgentQuestion extends HouseElement {
  #title = h("h2");
  #sentence = h("p");
  #field = h("input", { type: "text", maxLength: 500, autocomplete: "off" });
  #yes = h("button.yes", { type: "submit", value: "yes" });
  #dialog = h("dialog", {}, h("form", { method: "dialog" }, this.#title, this.#sentence, this.#field,
    h("div.answers", {}, this.#yes, h("button", { type: "submit", value: "no", formNoValidate: true }, "Leave it"))));

  build() {
    this.append(this.#dialog);
  }

  /**
   * The text, or true, if the reader agrees; else null.
   *
   * @param {{title: string, sentence?: string, verb: string, text?: string | null}} question
   * @returns {Promise<string | true | null>}
   */
  ask({ title, sentence = "", verb, text = null }) {
    put(this.#title, title);
    put(this.#sentence, sentence);
    put(this.#yes, verb);
    this.#field.hidden = text === null;
    this.#field.value = text ?? "";
    this.#field.ariaLabel = title;
    this.#dialog.ariaLabel = title;
    this.#dialog.returnValue = "no";
    this.#dialog.showModal();
    if (text !== null) this.#field.select();
    return new Promise((resolve) => {
      this.#dialog.addEventListener("close", () => {
        const agreed = this.#dialog.returnValue === "yes";
        resolve(agreed ? (text === null ? true : this.#field.value.trim()) : null);
      }, { once: true });
    });
  }
}

class AgentFolder extends HouseElement {
  #field = h("input", { type: "text", required: true, maxLength: 4096, autocomplete: "off", spellcheck: false,
    placeholder: "/home/you/project", ariaLabel: "Folder" });
  #wrong = h("p.wrong", { role: "alert" });
  #dialog = h("dialog", { ariaLabel: "Add a folder" }, h("form", { onsubmit: (event) => this.#submitted(event) },
    h("h2", {}, "Add a folder"),
    h("p", {}, "The absolute path of the folder to work in, on the machine where the server runs. The agent reads below it, and nowhere else."),
    this.#field, this.#wrong,
    h("div.answers", {}, h("button.yes", { type: "submit" }, "Add"),
      h("button", { type: "button", onclick: () => this.#dialog.close() }, "Leave it"))));

  build() {
    this.append(this.#dialog);
  }

  open() {
    put(this.#wrong, "");
    this.#dialog.showModal();
    this.#field.select();
  }

  close() {
    this.#dialog.close();
  }

  refused(sentence) {
    put(this.#wrong, sentence);
    this.#field.focus();
  }

  #submitted(event) {
    event.preventDefault();
    put(this.#wrong, "");
    this.announce("register", { path: this.#field.value.trim() });
  }
}

class AgentModels extends HouseElement {
  #list = h("fieldset", {}, h("legend.unseen", {}, "Model"));
  #said = h("p.wrong", { role: "alert" });
  #unreachable = h("ul.unreachable");
  #dialog = h("dialog", { ariaLabel: "Model" }, h("form", { onsubmit: (event) => this.#submitted(event) },
    h("header", {}, h("h2", {}, "Model"), h("button.quiet", { type: "button", title: "Close", ariaLabel: "Close",
      onclick: () => this.#dialog.close() }, icon("cross"))),
    this.#list, this.#unreachable, this.#said,
    h("div.answers", {}, h("button.yes", { type: "submit" }, "Use it"))));
  #models = [];

  build() {
    this.append(this.#dialog);
  }

  /** The server is asked what there is; that takes a moment. */
  open() {
    put(this.#said, "");
    this.#list.replaceChildren(this.#list.firstChild, h("p.waiting", {}, "Asking the servers…"));
    this.#unreachable.replaceChildren();
    this.#dialog.showModal();
  }

  close() {
    this.#dialog.close();
  }

  show({ models, unreachable = [] }, current) {
    this.#models = models;
    const rows = models.map((model, at) => {
      const chosen = current && model.provider === current.provider && (model.id === current.model_name || model.provider === "builtin");
      const about = [model.provider, model.context_window ? `${format.count(model.context_window)} tokens` : null, model.url]
        .filter(Boolean).join(" · ");
      return h("label", {}, h("input", { type: "radio", name: "model", value: String(at), checked: Boolean(chosen) }),
        h("span", {}, h("b", {}, model.display_name || model.id), h("span.about", {}, about)));
    });
    this.#list.replaceChildren(this.#list.firstChild, ...rows);
    this.#unreachable.replaceChildren(...unreachable.map((sentence) => h("li", {}, icon("alarm"), h("span", {}, sentence))));
    (this.#list.querySelector("input:checked") ?? this.#list.querySelector("input"))?.focus();
  }

  refused(sentence) {
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
    this.announce("model", model);
  }
}

class AgentAccess extends HouseElement {
  #field = h("input", { type: "password", required: true, autocomplete: "off", ariaLabel: "Token", maxLength: 200 });
  #wrong = h("p.wrong", { role: "alert" });

  build() {
    this.append(h("form", { onsubmit: (event) => this.#submitted(event) },
      h("h1", {}, "The agent's token"),
      h("p", {}, "The agent reads your files, so this page needs its token. It is in the file ", h("code", {}, "agent.token"),
        " in Troupe's state directory. With ", h("code", {}, "troupe sessions --link"), " you get a link that has it."),
      h("div.line", {}, this.#field, h("button.yes", { type: "submit" }, "Open")), this.#wrong));
  }

  refused(sentence) {
    put(this.#wrong, sentence);
    this.#field.focus();
  }

  #submitted(event) {
    event.preventDefault();
    put(this.#wrong, "");
    this.announce("token", this.#field.value.trim());
    this.#field.value = "";
  }
}

customElements.define("agent-question", AgentQuestion);
customElements.define("agent-folder", AgentFolder);
customElements.define("agent-models", AgentModels);
customElements.define("agent-access", AgentAccess);
