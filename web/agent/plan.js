/** <agent-plan>: the steps of the turn, with the one that it is at. It folds, and says how far it is. */

import { HouseElement, h, icon, mark, put, turn } from "../house/house.js";

class AgentPlan extends HouseElement {
  #said = h("span.said");
  #bar = h("progress", { max: 1, value: 0, ariaLabel: "Steps done" });
  #rationale = h("p.rationale");
  #steps = h("ol");
  #fold = h("details", { open: true }, h("summary", {}, icon("list"), this.#said, this.#bar), this.#rationale, this.#steps);
  #count = 0;

  build() {
    this.append(this.#fold);
  }

  /** @param {{steps: {description: string, files_involved?: string[]}[], rationale?: string} | null} plan */
  show(plan) {
    this.hidden = !plan?.steps.length;
    if (!plan) return;
    this.#count = plan.steps.length;
    put(this.#rationale, plan.rationale ?? "");
    this.#steps.replaceChildren(...plan.steps.map(({ description, files_involved: files = [] }) =>
      h("li", {}, icon("ring"), h("span", {}, description, files.length ? h("span.files", {}, ` ${files.join(", ")}`) : null))));
    this.at(0);
  }

  /** The step that is under way, from 1; 0: none yet. */
  at(step) {
    if (this.hidden) return;
    const done = Math.min(Math.max(step - 1, 0), this.#count);
    put(this.#said, step > this.#count ? `All ${this.#count} steps are done` : `Step ${Math.max(step, 1)} of ${this.#count}`);
    this.#bar.value = done / this.#count;
    [...this.#steps.children].forEach((row, at) => {
      const state = at + 1 < step ? "check" : at + 1 === step ? "half" : "ring";
      turn(row.querySelector(".icon"), state);
      mark(row, "aria-current", at + 1 === step ? "step" : null);
      row.classList.toggle("done", at + 1 < step);
    });
  }
}

customElements.define("agent-plan", AgentPlan);
