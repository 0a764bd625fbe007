/**
 * <agent-rules>: what the agent may do in this workspace, to read and to change; and what is remembered, to read and to
 * revoke. Only what was changed is sent. A refusal wins over what is allowed or remembered, and the dialog says so.
 *
 * Events: "save" {change}, "forget" {approval}.
 */

import { HouseElement, h, icon, put } from "../house/house.js";
import { CHOICES, LISTS, SWITCHES, whatOf } from "./policy_words.js";
import { doneBy } from "./who.js";

/** Seconds that a request waits at most, as the server has it: a year. */
const LONGEST = 366 * 24 * 3600;

class AgentRules extends HouseElement {
  #fields = new Map();
  #timeout = h("input.seconds", { type: "text", autocomplete: "off", inputMode: "numeric" });
  #said = h("p.wrong", { role: "alert" });
  #none = h("p.about", { hidden: true }, "Nothing is remembered.");
  #remembered = h("ul.remembered");
  #yes = h("button.yes", { type: "submit" }, "Save");
  #form = h("form", { onsubmit: (event) => this.#submitted(event), noValidate: true });
  #dialog = h("dialog", { ariaLabel: "What the agent may do" });
  /** @type {any} */
  #policy = null;

  build() {
    const choices = CHOICES.map(([name, label, options]) => this.#labelled(name, label,
      h("select", {}, ...options.map(([value, text]) => h("option", { value }, text)))));
    const switches = SWITCHES.map(([name, label]) => {
      const box = h("input", { type: "checkbox", ariaLabel: label });
      this.#fields.set(name, box);
      return h("label.switch", {}, box, h("span", {}, label));
    });
    const timeout = this.#labelled("approval_timeout_s", "Take a request as rejected after so many seconds; 0: wait as long as it takes", this.#timeout);
    const lists = LISTS.map(([name, label, about]) => this.#labelled(name, label, h("textarea", { rows: 2, spellcheck: false, autocomplete: "off" }), about));
    this.#form.append(...choices, ...switches, timeout, ...lists, this.#said,
      h("div.answers", {}, this.#yes, h("button", { type: "button", onclick: () => this.#dialog.close() }, "Close")));
    this.#dialog.append(h("header", {}, h("h2", {}, "What the agent may do here"),
      h("button.quiet", { type: "button", title: "Close", ariaLabel: "Close", onclick: () => this.#dialog.close() }, icon("cross"))),
    h("h3", {}, "Remembered approvals"), this.#remembered, this.#none, h("h3", {}, "Policy of this workspace"), this.#form);
    this.#remembered.addEventListener("click", (event) => this.#forget(/** @type {Element} */ (event.target)));
    this.append(this.#dialog);
  }

  open() {
    put(this.#said, "");
    this.#yes.disabled = true;
    if (!this.#dialog.open) this.#dialog.showModal();
    this.#dialog.scrollTop = 0;
  }

  close() {
    this.#dialog.close();
  }

  refused(sentence) {
    put(this.#said, sentence);
    this.#said.scrollIntoView({ block: "nearest" });
  }

  show(policy) {
    this.#policy = policy;
    for (const [name, field] of this.#fields) {
      const value = policy[name];
      if (field.type === "checkbox") field.checked = value;
      else field.value = Array.isArray(value) ? value.join("\n") : String(value ?? "");
    }
    this.#yes.disabled = false;
  }

  /** @param {any[]} approvals those of the session come first */
  showRemembered(approvals) {
    const at = [...this.#remembered.children].findIndex((row) => row.contains(document.activeElement));
    this.#none.hidden = approvals.length > 0;
    this.#remembered.replaceChildren(...approvals.map((each) => {
      const what = h("span", {}, ...whatOf(each));
      const where = each.scope === "session" ? "this session" : "this workspace";
      return h("li", { "data-key": `remembered ${each.id}` }, what, h("span.about", {}, `${where}${each.by ? `, approved${doneBy(each.by)}` : ""}`),
        h("button", { type: "button", "data-id": each.id, "data-scope": each.scope, ariaLabel: `Revoke for ${where}: ${what.textContent}` }, "Revoke"));
    }));
    if (at !== -1) (/** @type {HTMLElement | null} */ (this.#remembered.children[Math.min(at, approvals.length - 1)]?.querySelector("button")) ?? this.#dialog.querySelector("button"))?.focus();
  }

  #labelled(name, label, field, about = "") {
    this.#fields.set(name, field);
    field.ariaLabel = label;
    return h("label.line", {}, h("span", {}, label, about ? h("span.about", {}, ` ${about}`) : null), field);
  }

  #forget(target) {
    const button = /** @type {HTMLButtonElement | null} */ (target.closest("button[data-id]"));
    if (button) this.announce("forget", { id: button.dataset.id, scope: button.dataset.scope });
  }

  #submitted(event) {
    event.preventDefault();
    put(this.#said, "");
    const seconds = Number(this.#timeout.value.trim() || "no number");
    if (!(seconds >= 0 && seconds <= LONGEST)) {
      this.refused(`The seconds are a number up to ${LONGEST} (a year), such as 600; 0 waits as long as it takes.`);
      this.#timeout.focus();
      return;
    }
    const change = {};
    for (const [name, field] of this.#fields) {
      const old = this.#policy[name];
      const value = field.type === "checkbox" ? field.checked
        : Array.isArray(old) ? field.value.split("\n").map((line) => line.trim()).filter(Boolean)
          : typeof old === "number" ? Number(field.value) : field.value;
      if (JSON.stringify(value) !== JSON.stringify(old)) change[name] = value;
    }
    this.announce("save", { change });
  }
}

customElements.define("agent-rules", AgentRules);
