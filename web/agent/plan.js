/**
 * <agent-plan>: the steps of the turn, with the one that it is at. Folded, it says how far it is, and which step that is.
 * When the turn has ended well it folds by itself: then the answer is what matters.
 *
 * In mode "plan" nothing is done before somebody approves the plan. Then, when the turn has ended, each step can be
 * written anew, moved and removed, and the whole is approved once. An approval that was refused, or lost with its
 * connection, can be given again, with the steps as they were edited. Events: "approve" {plan_seq, steps, mode}.
 */

import { HouseElement, h, icon, mark, put, turn } from "../house/house.js";
import { narrow } from "./narrow.js";

class AgentPlan extends HouseElement {
  #said = h("span.said");
  #now = h("span.now");
  #bar = h("progress", { max: 1, value: 0, ariaLabel: "Steps done" });
  #rationale = h("p.rationale");
  #steps = h("ol");
  #mode = h("select", { ariaLabel: "How it is carried out" },
    h("option", { value: "ask" }, "asking me before each change"), h("option", { value: "auto" }, "within the policy, without asking"));
  #yes = h("button.yes", { type: "submit" }, "Carry it out");
  #form = h("form.approval", { hidden: true, onsubmit: (event) => this.#approved(event) }, this.#yes, this.#mode,
    h("button.quiet", { type: "button", onclick: () => this.#add() }, icon("plus"), "Another step"));
  #fold = h("details", {}, h("summary", {}, icon("list"), this.#said, this.#bar, this.#now), this.#rationale, this.#steps, this.#form);
  /** @type {{seq?: number, steps: {description: string, files_involved?: string[]}[], rationale?: string} | null} */
  #plan = null;
  /** @type {{description: string, files_involved?: string[]}[] | null} */
  #edited = null;
  #step = 0;
  /** @type {"running" | "done" | "stopped"} */
  #course = "running";
  #mayApprove = false;
  #isSent = false;
  #running = false;
  #planning = false;

  build() {
    this.append(this.#fold);
    this.#steps.addEventListener("click", (event) => this.#pressed(/** @type {Element} */ (event.target)));
    this.#steps.addEventListener("keydown", (event) => this.#key(event));
  }

  /** @param {{seq?: number, steps: {description: string, files_involved?: string[]}[], rationale?: string} | null} plan */
  show(plan) {
    const was = this.hidden;
    this.#plan = plan;
    this.#edited = null;
    this.#isSent = false;
    this.hidden = !plan?.steps.length;
    this.#course = "running";
    this.#mayApprove = false;
    this.#form.hidden = true;
    if (!plan || this.hidden) return;
    if (was) this.#fold.open = !narrow.matches;
    put(this.#rationale, plan.rationale ?? "");
    this.#list();
    this.#weigh();
  }

  /** The step that is under way, from 1; 0: none yet. */
  at(step) {
    if (step === this.#step) return;
    this.#step = step;
    this.#draw();
  }

  /** How the session is: only in mode "plan", while nothing runs, is there something to approve. */
  state({ mode, running }) {
    this.#running = running;
    this.#planning = mode === "plan";
    this.#weigh();
  }

  /** The turn has ended. */
  end(success) {
    if (this.hidden) return;
    this.#course = success ? "done" : "stopped";
    this.#draw();
    if (success && !this.#planning) this.#fold.open = false;
    this.#weigh();
  }

  /** It was approved: once. */
  sent() {
    this.#isSent = true;
    this.#weigh();
  }

  /** Its approval may not have arrived, or was not taken. */
  unsent() {
    this.#isSent = false;
    this.#weigh();
  }

  #weigh() {
    const may = !this.hidden && this.#planning && !this.#running && this.#course !== "running" && !this.#isSent;
    if (may === this.#mayApprove) return;
    this.#mayApprove = may;
    this.#form.hidden = !may;
    if (may) this.#fold.open = true;
    this.#list();
  }

  // --- to be read

  #list() {
    if (!this.#plan) return;
    if (this.#mayApprove) {
      this.#steps.replaceChildren(...(this.#edited ?? this.#plan.steps).map(editable));
      this.#number();
    } else {
      this.#steps.replaceChildren(...this.#plan.steps.map(({ description, files_involved: files = [] }) =>
        h("li", {}, icon("ring"), h("span", {}, description, files.length ? h("span.files", {}, ` ${files.join(", ")}`) : null))));
    }
    this.#draw();
  }

  #draw() {
    if (this.hidden || !this.#plan) return;
    const descriptions = this.#plan.steps.map(({ description }) => description);
    const count = descriptions.length;
    const last = Math.min(Math.max(this.#step, 1), count);
    const all = this.#step > count || (this.#course === "done" && this.#step === count);
    const done = all ? count : Math.max(this.#step - 1, 0);
    this.#bar.hidden = this.#mayApprove;
    if (this.#mayApprove) {
      put(this.#said, "A plan waits for you");
      put(this.#now, descriptions[0]);
      return;
    }
    put(this.#said, all ? `All ${count} steps are done`
      : this.#course === "running" ? `Step ${last} of ${count}` : `Ended at step ${last} of ${count}`);
    put(this.#now, all ? "" : descriptions[last - 1]);
    this.#bar.value = done / count;
    [...this.#steps.children].forEach((row, at) => {
      const current = !all && at + 1 === this.#step;
      turn(row.querySelector(".icon"), at < done ? "check" : current ? (this.#course === "running" ? "half" : "square") : "ring");
      mark(row, "aria-current", current ? "step" : null);
      row.classList.toggle("done", at < done);
    });
  }

  // --- to be changed, and approved

  #pressed(target) {
    const button = /** @type {HTMLElement | null} */ (target.closest("[data-act]"));
    const row = button?.closest("li");
    if (!button || !row) return;
    if (button.dataset.act === "remove") {
      const beside = row.nextElementSibling ?? row.previousElementSibling;
      row.remove();
      (/** @type {HTMLElement | null} */ (beside?.querySelector("[data-act=remove]")) ?? this.#yes).focus();
    } else {
      this.#move(row, button.dataset.act === "up" ? -1 : 1);
      button.focus();
    }
    this.#number();
  }

  #key(event) {
    const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    const row = event.target.closest("li");
    if (!step || !event.altKey || !row || !this.#mayApprove) return;
    event.preventDefault();
    const held = event.target;
    this.#move(row, step);
    held.focus();
    this.#number();
  }

  #move(row, by) {
    if (by < 0) row.previousElementSibling?.before(row);
    else row.nextElementSibling?.after(row);
  }

  #add() {
    const row = editable({ description: "" });
    this.#steps.append(row);
    this.#number();
    row.querySelector("textarea")?.focus();
  }

  #number() {
    const rows = [...this.#steps.children];
    rows.forEach((row, at) => {
      mark(row.querySelector("textarea"), "aria-label", `Step ${at + 1}`);
      for (const button of /** @type {NodeListOf<HTMLButtonElement>} */ (row.querySelectorAll("[data-act]"))) {
        mark(button, "aria-label", `${button.title}: step ${at + 1}`);
        button.disabled = (button.dataset.act === "up" && at === 0) || (button.dataset.act === "down" && at === rows.length - 1);
      }
    });
    this.#yes.disabled = !rows.length;
  }

  #approved(event) {
    event.preventDefault();
    const steps = [...this.#steps.children].map((row) => ({
      description: (row.querySelector("textarea")?.value ?? "").trim(),
      files_involved: JSON.parse(/** @type {HTMLElement} */ (row).dataset.files ?? "[]"),
    })).filter(({ description }) => description);
    if (!steps.length || !this.#plan) return;
    this.#edited = steps;
    this.announce("approve", { plan_seq: this.#plan.seq, steps, mode: this.#mode.value });
  }
}

function editable({ description, files_involved: files = [] }) {
  const button = (act, sign, label) => h("button.quiet", { type: "button", title: label, "data-act": act }, icon(sign));
  return h("li.editable", { "data-files": JSON.stringify(files) },
    h("div.words", {}, h("textarea", { rows: 1, maxLength: 1000, value: description, dir: "auto" }), files.length ? h("span.files", {}, files.join(", ")) : null),
    h("span.acts", {}, button("up", "up", "Earlier"), button("down", "down", "Later"), button("remove", "cross", "Remove")));
}

customElements.define("agent-plan", AgentPlan);
