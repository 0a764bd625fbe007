/**
 * <judge-problems>: all problems, by contest. `list.show(panel)`. Announces "open" with the id of the chosen problem;
 * `list.step(1)` chooses the next one. The contest of the shown problem is open. A long list has a search. Its best
 * result comes first, and Enter opens that. Each problem is a link, which the browser can open in another tab.
 * Announces "forget" with the id of a problem that the user wants to take off the list.
 */

import { HouseElement, format, h, icon, mark, put } from "../house/house.js";
import { addressOf } from "./address.js";
import { found, wordsOf } from "./search.js";

const LONG = 8; // a list of more problems has a search
const FEW = 16; // up to so many problems, all contests are open

class JudgeProblems extends HouseElement {
  /** @type {import("./panel.js").Panel} */
  #panel;
  #shown = "";
  #choices = new Map(); // contest -> whether the reader wants it open
  #words = [];
  #count = h("b.badge");
  #search = h("house-search", { label: "Search problems", hidden: true });
  #contests = h("div.contests");
  #nothing = h("p.nothing");

  build() {
    mark(this, "role", "navigation");
    this.ariaLabel = "Problems";
    this.append(h("h2", {}, "Problems ", this.#count), this.#search, this.#contests, this.#nothing);
    this.#search.addEventListener("filter", ({ detail }) => {
      this.#words = wordsOf(detail);
      this.show(this.#panel);
    });
    this.addEventListener("keydown", (event) => this.#key(event));
  }

  /** @param {import("./panel.js").Panel} panel */
  show(panel) {
    this.#panel = panel;
    const { problems, elsewhere, run, id, current } = panel;
    const here = id ?? current;
    const running = [...elsewhere, ...(run ? [id] : [])];
    const wanted = JSON.stringify([problems, here, running, this.#words, [...this.#choices]]);
    if (wanted === this.#shown) return;
    this.#shown = wanted;
    put(this.#count, problems.length ? format.count(problems.length) : "");
    if (problems.length > LONG) this.#search.hidden = false;
    const focused = this.contains(document.activeElement) ? document.activeElement?.getAttribute("data-key") : null;
    const before = focused ? this.#rows.findIndex((row) => row.dataset.key === focused) : -1;
    const contests = contestsOf(found(problems, this.#words), this.#words.length > 0);
    this.#contests.replaceChildren(...contests.map((contest) => this.#contest(contest, here, new Set(running))));
    this.#nothing.hidden = contests.length > 0 || problems.length === 0;
    put(this.#nothing, this.#words.length ? `Nothing matches “${this.#search.value}”.` : "");
    if (!focused) return;
    const rows = this.#rows;
    const next = rows.find((row) => row.dataset.key === focused) ?? rows[Math.min(before, rows.length - 1)];
    if (next) next.focus();
    else if (!this.#search.hidden) this.seek(); // none of the search's results is left
  }

  get #rows() {
    return [...this.#contests.querySelectorAll(".contest, .problem")];
  }

  /** Moves the focus to the search, and shows the search if the list is short and does not have it. */
  seek() {
    this.#search.hidden = false;
    this.#search.querySelector("input")?.focus();
  }

  step(by) {
    const ids = contestsOf(this.#panel.problems).flatMap(({ problems }) => problems.map(({ id }) => id));
    const at = ids.indexOf(this.#panel.id);
    const next = ids[at === -1 ? 0 : at + by];
    if (next !== undefined) this.announce("open", next);
  }

  #contest({ key, name, problems, size }, here, running) {
    const open = this.#isOpen(key, problems, here);
    const solved = problems.filter(isSolved).length;
    const all = !this.#words.length; // a search shows only some of them
    const missing = all && size > problems.length ? `${problems.length} of ${size} have come` : "";
    const button = h("button.contest", { type: "button", "data-key": `contest ${key}`, ariaExpanded: String(open),
      onclick: () => this.#fold(key, !open) },
      icon("twist"), h("span.name", { title: name }, name),
      all ? h("span.solved", { title: "solved" }, `${solved}/${problems.length}`) : null);
    const rows = (open ? problems : []).map((each) => h("li", { "data-key": `listed ${each.id}` }, this.#problem(each, here, running), this.#off(each)));
    const list = open ? h("ol", {}, ...rows) : null;
    return h("section", {}, h("h3", {}, button), missing ? h("p.missing", {}, missing) : null, list);
  }

  #problem(problem, here, running) {
    const { id, name, url } = problem;
    const [sign, tone, word, words] = lookOf(problem, running.has(id));
    return h("a.problem", { href: addressOf(id), "data-key": `problem ${id}`, title: [name, url].filter(Boolean).join("\n"),
      ariaCurrent: id === here ? "true" : null, onclick: (event) => this.#open(event, id) },
      h("span.sign", { "data-tone": tone }, icon(sign)), h("span.name", {}, name),
      h("span.score", {}, word, h("span.unseen", {}, ` ${words}`)));
  }

  #off({ id, name }) {
    const words = `Remove ${name} from the list; its folder stays as it is`;
    return h("button.quiet.off", { type: "button", tabIndex: -1, title: `${words} (Delete)`, ariaLabel: words,
      onclick: () => this.announce("forget", id) }, icon("cross"));
  }

  #open(event, id) {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    this.announce("open", id);
  }

  #isOpen(key, problems, here) {
    if (this.#words.length) return true;
    const few = this.#panel.problems.length <= FEW;
    return this.#choices.get(key) ?? (few || problems.some(({ id }) => id === here));
  }

  #fold(key, open) {
    this.#choices.set(key, open);
    this.show(this.#panel);
  }

  /** Opens the first result and leaves the search, so that keys are for the page again. */
  #openFirst(field) {
    const first = this.#contests.querySelector(".problem");
    if (!first) return;
    first.click();
    this.#search.clear();
    field.blur();
  }

  /** Up and Down move through the list, also from the search; Enter in the search opens its first result. */
  #key(event) {
    const { key, target } = event;
    const by = { ArrowDown: 1, ArrowUp: -1 }[key];
    const searching = target.matches("input");
    const id = target.dataset.key?.match(/^problem (.*)$/s)?.[1];
    if (key === "Delete" && id) this.announce("forget", id);
    else if (key === "Enter" && searching && this.#words.length) this.#openFirst(target);
    else if (by === 1 && searching) this.#contests.querySelector(this.#words.length ? ".problem" : ".contest")?.focus();
    else if (by && !searching) this.#rows[this.#rows.indexOf(target) + by]?.focus();
    else return;
    event.preventDefault();
  }
}

/**
 * `cases` is not known for a folder that the server has not looked into yet.
 *
 * @param {import("../messages").Judge.Listed} problem
 */
const isSolved = ({ standing, cases }) => Boolean(standing && standing.failed === 0 && standing.passed >= (cases ?? Infinity));

/**
 * @param {import("../messages").Judge.Listed} problem
 * @param {Set<string>} running
 */
function lookOf(problem, running) {
  const { standing, cases } = problem;
  if (running) return ["half", "info", "…", "running"];
  if (!standing && cases === undefined) return ["ring", "idle", "", "not run yet"];
  if (!standing) return ["ring", "idle", String(cases), cases === 1 ? "case, not run yet" : "cases, not run yet"];
  const score = `${standing.passed}/${cases ?? standing.passed + standing.failed}`;
  if (isSolved(problem)) return ["check", "good", score, "passed"];
  return standing.failed ? ["cross", "bad", score, "passed"] : ["ring", "idle", score, "passed, the others not run yet"];
}

/**
 * The contests in the order in which they came: {key, name, problems, size: how many problems its batch is to have}.
 * `exactly`: the order of the problems is kept exactly; then a contest may occur twice.
 */
function contestsOf(problems, exactly = false) {
  const contests = [];
  for (const problem of problems) {
    const key = problem.contestId || problem.group;
    let contest = exactly ? contests.at(-1) : contests.find((each) => each.key === key);
    if (contest?.key !== key) {
      contest = { key, name: problem.group || key, problems: [], size: 0 };
      contests.push(contest);
    }
    contest.problems.push(problem);
    contest.size = Math.max(contest.size, problem.batch?.size ?? 0);
  }
  return contests;
}

customElements.define("judge-problems", JudgeProblems);
