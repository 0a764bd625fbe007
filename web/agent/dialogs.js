/**
 * What the page asks in a dialog: <agent-question> (yes or no, or a line of text), <agent-folder> (which folder to work
 * in), and <agent-access> (the token), which takes the place of the page.
 */

import { HouseElement, h, put } from "../house/house.js";

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
customElements.define("agent-access", AgentAccess);
