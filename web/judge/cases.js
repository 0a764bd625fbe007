/**
 * <judge-cases>: the cases of the shown problem. `cases.show(panel, {blanks, onlyFailed})`.
 * `move(1)`, `toggle()`, `step(1)` and `current` are for the keyboard. The current case is the one that has the focus,
 * or had it last.
 */

import { HouseElement, h } from "../house/house.js";
import "./case.js";
import { outdated } from "./sentence.js";

/** @typedef {HTMLElement & {index: number, toggle: (open?: boolean) => void}} CaseElement what case.js defines */

class JudgeCases extends HouseElement {
  /** @type {string | null} */
  #problem = null;
  #items = new Map();
  /** @type {CaseElement | null} */
  #last = null;

  connected() {
    this.listen(this, "focusin", ({ target }) => (this.#last = target.closest("judge-case")));
  }

  /**
   * @param {import("./panel.js").Panel} panel
   * @param {{blanks: boolean, onlyFailed: boolean}} look
   */
  show(panel, { blanks, onlyFailed }) {
    if (panel.id !== this.#problem) {
      this.#problem = panel.id;
      this.#items.clear();
      this.#last = null;
      this.replaceChildren();
    }
    const { problem, settings, results, stale, run, free } = panel;
    if (!problem || !settings) return;
    const earlier = { brief: "earlier run", words: "This is the result of an earlier run." };
    const limits = limitsOf(problem, settings, this.#limits);
    this.#limits = limits;
    for (const [index, element] of this.#items) {
      if (panel.cases.has(index)) continue;
      element.remove();
      this.#items.delete(index);
    }
    for (const [index, item] of panel.cases) {
      const result = results.get(index) ?? null;
      const waits = run !== null && run.wanted.has(index) && !run.judged.has(index);
      const note = stale.has(index) ? earlier : result && outdated(result);
      const state = !waits ? "idle" : run.at === index ? "running" : "waiting";
      const element = this.#item(index);
      element.hidden = onlyFailed && result?.status === "pass" && !note;
      element.show({
        item, result, state, limits, blanks, compare: settings.compare,
        remark: note?.brief ?? "", words: note?.words ?? "",
        free: free && !problem.unsupported,
      });
    }
  }

  /** @type {{time: number, memory: number | null} | null} */
  #limits = null;

  #shown() {
    return /** @type {CaseElement[]} */ ([...this.children]).filter((each) => !each.hidden);
  }

  /** The current case for the keyboard; the first one if none has had the focus. */
  get current() {
    const shown = this.#shown();
    return shown.find((each) => each === this.#last) ?? shown[0] ?? null;
  }

  move(by) {
    const shown = this.#shown();
    const at = shown.findIndex((each) => each === this.#last);
    const next = at === -1 ? (by > 0 ? 0 : shown.length - 1) : Math.min(Math.max(at + by, 0), shown.length - 1);
    shown[next]?.focus();
  }

  go(index) {
    this.#items.get(index)?.focus();
  }

  toggle() {
    this.current?.toggle();
  }

  fold(open) {
    for (const element of this.#items.values()) element.toggle(open);
  }

  #item(index) {
    if (this.#items.has(index)) return this.#items.get(index);
    const element = h("judge-case", { "data-index": index });
    this.#items.set(index, element);
    const last = /** @type {HTMLElement | null} */ (this.lastElementChild);
    const isLast = !last || Number(last.dataset.index) < index; // so are nearly all: they come in order
    this.insertBefore(element, isLast ? null : this.#shownAfter(index));
    return element;
  }

  #shownAfter(index) {
    return /** @type {HTMLElement[]} */ ([...this.children]).find((each) => Number(each.dataset.index) > index) ?? null;
  }
}

/**
 * {time: ms, memory: MB or null}; the same object as `before` if nothing has changed.
 *
 * @param {import("../messages").Judge.ShownProblem} problem
 * @param {import("../messages").Judge.RunSettings} settings
 * @param {{time: number, memory: number | null} | null} before
 */
function limitsOf({ timeLimit, memoryLimit }, { timeoutMs, memoryLimitMb }, before) {
  const time = timeoutMs ?? timeLimit;
  const memory = memoryLimitMb ?? memoryLimit ?? null;
  return before?.time === time && before?.memory === memory ? before : { time, memory };
}

customElements.define("judge-cases", JudgeCases);
