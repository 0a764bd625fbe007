/**
 * <judge-controls>: buttons to run and to cancel, the score, the interpreter. `controls.show(panel, {live, blanks,
 * onlyFailed})`.
 * Announces "runall", "runfailed", "cancel", "interpreter" with its name, "blanks", "onlyfailed", "gofailed".
 *
 * The first button runs, or cancels. The second click of a double one, and Enter that is held, are meant for what the
 * button did at first: they do nothing when it does something else by then.
 */

import { HouseElement, h, icon, mark, put, putParts, turn } from "../house/house.js";
import { standing } from "./sentence.js";

const INTERPRETERS = [["cpython", "CPython"], ["pypy", "PyPy"]];
const MANY = 6; // with so many cases, there is a button to see only the failed ones

/** "3 cases", "2/3 passed", "4 not run again", "120 ms", "Case 2": a line breaks between them, and not within one. */
const COUNT = /(\d[\d,]*(?:\/\d[\d,]*)? (?:not )?\p{L}+(?: again)?|Case \d+)/u;
const withCounts = (text) => text.split(COUNT).map((part, at) => (at % 2 ? h("span.count", {}, part) : part));

class JudgeControls extends HouseElement {
  #running = false;
  #runSign = icon("play");
  #runWord = h("span", {}, "Run all");
  #run = h("button.run", { type: "button", onclick: (event) => this.#press(event) }, this.#runSign, this.#runWord);
  #pressed = "";
  #failedWord = h("span", {}, "Run failed");
  #failedCount = h("b.badge");
  #failed = h("button.failed", { type: "button", onclick: () => this.announce("runfailed") },
    this.#failedWord, this.#failedCount);
  #choices = INTERPRETERS.map(([value, word]) => {
    const input = h("input", { type: "radio", name: "interpreter", value });
    input.addEventListener("change", () => this.announce("interpreter", value));
    return [input, h("label", {}, input, h("span", {}, word))];
  });
  #blanks = h("button.quiet", { type: "button", title: "Show all blanks", ariaLabel: "Show all blanks",
    onclick: () => this.announce("blanks") }, icon("pilcrow"));
  #onlyFailed = h("button", { type: "button", onclick: () => this.announce("onlyfailed") }, "Only failed");
  #sign = icon("ring");
  #text = h("span.text");
  #go = h("button.link", { type: "button", onclick: () => this.announce("gofailed") }, "");
  #said = h("p.unseen", { role: "status" });
  #fill = h("span.fill");
  #bar = h("div.progress", { role: "progressbar", ariaLabel: "Cases run" }, this.#fill);

  build() {
    const interpreters = h("div.interpreters", { role: "radiogroup", ariaLabel: "Interpreter" },
      ...this.#choices.map(([, label]) => label));
    const buttons = h("div.buttons", {}, this.#run, this.#failed, h("span.space"), interpreters);
    const standing = h("div.standing", {}, this.#sign, this.#text, this.#go, h("span.space"), this.#onlyFailed,
      this.#blanks);
    this.append(buttons, standing, this.#said, this.#bar);
  }

  /**
   * @param {import("./panel.js").Panel} panel
   * @param {{live: boolean, blanks: boolean, onlyFailed: boolean}} look
   */
  show(panel, { live, blanks, onlyFailed }) {
    this.hidden = !panel.problem;
    if (!panel.problem || !panel.settings) return;
    const { problem, settings, run, failed, results, cases } = panel;
    const able = live && !problem.unsupported && cases.size > 0;
    this.#running = run !== null;
    turn(this.#runSign, this.#running ? "block" : "play");
    put(this.#runWord, this.#running ? "Cancel" : "Run all");
    mark(this.#run, "data-running", this.#running ? "" : null);
    this.#run.disabled = this.#running ? !live : !able;
    this.#failed.disabled = !able || this.#running || failed.length === 0;
    put(this.#failedCount, failed.length ? String(failed.length) : "");
    for (const [input] of this.#choices) {
      input.checked = input.value === settings.interpreter;
      input.disabled = !live;
    }
    mark(this.#blanks, "aria-pressed", String(blanks));
    const mixed = failed.length > 0 && failed.length < results.size;
    this.#onlyFailed.hidden = cases.size < MANY || !(mixed || onlyFailed);
    mark(this.#onlyFailed, "aria-pressed", String(onlyFailed));
    this.#showStanding(panel);
  }

  /** @param {MouseEvent} event */
  #press({ detail }) {
    const wish = this.#running ? "cancel" : "runall";
    if (detail > 1 && wish !== this.#pressed) return;
    this.#pressed = wish;
    this.announce(wish);
  }

  #showStanding(panel) {
    const { tone, text, said, done, total } = standing(panel);
    turn(this.#sign, { idle: "ring", info: "half", good: "check", bad: "cross" }[tone]);
    mark(this, "data-tone", tone);
    putParts(this.#text, text, withCounts);
    put(this.#said, said);
    const { failed, stale } = panel;
    const first = failed.find((index) => !stale.has(index));
    this.#go.hidden = first === undefined || panel.cases.size < 3;
    put(this.#go, `to case ${first}`);
    this.#go.ariaLabel = `Go to case ${first}, the first that failed`;
    mark(this.#bar, "data-running", this.#running ? "" : null);
    mark(this.#bar, "aria-hidden", this.#running ? null : "true");
    mark(this.#bar, "aria-valuemax", total);
    mark(this.#bar, "aria-valuenow", done);
    this.#fill.style.transform = `scaleX(${total ? done / total : 0})`;
  }
}

customElements.define("judge-controls", JudgeControls);
