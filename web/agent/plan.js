/**
 * <agent-plan>: the steps of the turn, with the one that it is at. Folded, it says how far it is, and which step that is.
 * When the turn has ended well it folds by itself: then the answer is what matters.
 */

import { HouseElement, h, icon, mark, put, turn } from "../house/house.js";

const NARROW = "(max-width: 48rem)";

class AgentPlan extends HouseElement {
  #said = h("span.said");
  #now = h("span.now");
  #bar = h("progress", { max: 1, value: 0, ariaLabel: "Steps done" });
  #rationale = h("p.rationale");
  #steps = h("ol");
  #fold = h("details", {}, h("summary", {}, icon("list"), this.#said, this.#bar, this.#now), this.#rationale, this.#steps);
  /** @type {string[]} */
  #descriptions = [];
  #step = 0;
  /** @type {"running" | "done" | "stopped"} */
  #course = "running";

  build() {
    this.append(this.#fold);
  }

  /** @param {{steps: {description: string, files_involved?: string[]}[], rationale?: string} | null} plan */
  show(plan) {
    const was = this.hidden;
    this.hidden = !plan?.steps.length;
    this.#course = "running";
    if (!plan || this.hidden) return;
    if (was) this.#fold.open = !matchMedia(NARROW).matches;
    this.#descriptions = plan.steps.map(({ description }) => description);
    put(this.#rationale, plan.rationale ?? "");
    this.#steps.replaceChildren(...plan.steps.map(({ description, files_involved: files = [] }) =>
      h("li", {}, icon("ring"), h("span", {}, description, files.length ? h("span.files", {}, ` ${files.join(", ")}`) : null))));
    this.#draw();
  }

  /** The step that is under way, from 1; 0: none yet. */
  at(step) {
    if (step === this.#step) return;
    this.#step = step;
    this.#draw();
  }

  /** The turn has ended. */
  end(success) {
    if (this.hidden) return;
    this.#course = success ? "done" : "stopped";
    this.#draw();
    if (success) this.#fold.open = false;
  }

  #draw() {
    if (this.hidden) return;
    const count = this.#descriptions.length;
    const last = Math.min(Math.max(this.#step, 1), count);
    const all = this.#step > count || (this.#course === "done" && this.#step === count);
    const done = all ? count : Math.max(this.#step - 1, 0);
    put(this.#said, all ? `All ${count} steps are done`
      : this.#course === "running" ? `Step ${last} of ${count}` : `Ended at step ${last} of ${count}`);
    put(this.#now, all ? "" : this.#descriptions[last - 1]);
    this.#bar.value = done / count;
    [...this.#steps.children].forEach((row, at) => {
      const current = !all && at + 1 === this.#step;
      turn(row.querySelector(".icon"), at < done ? "check" : current ? (this.#course === "running" ? "half" : "square") : "ring");
      mark(row, "aria-current", current ? "step" : null);
      row.classList.toggle("done", at < done);
    });
  }
}

customElements.define("agent-plan", AgentPlan);
