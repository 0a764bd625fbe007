/**
 * <judge-problems>: all problems, by contest. `list.show(panel)`. Announces "open" with the id of the one chosen, and
 * `list.step(1)` chooses the next. The contest of the shown problem is open; a long list has a search. A problem is a
 * link, which the browser can open in another tab.
 */

import { HouseElement, format, h, icon, mark, put } from "../house/house.js";
import { addressOf } from "./address.js";

const LONG = 8; // problems, from which on there is a search
const FEW = 16; // problems, up to which all contests are open

class JudgeProblems extends HouseElement {
  #panel = null;
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
      this.#words = detail.toLowerCase().split(/\s+/).filter(Boolean);
      this.show(this.#panel);
    });
    this.addEventListener("keydown", (event) => this.#key(event));
  }

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
    const focused = this.contains(document.activeElement) ? document.activeElement.dataset.key : null;
    const contests = contestsOf(problems.filter((each) => matches(each, this.#words)));
    this.#contests.replaceChildren(...contests.map((contest) => this.#contest(contest, here, new Set(running))));
    this.#nothing.hidden = contests.length > 0 || problems.length === 0;
    put(this.#nothing, this.#words.length ? `Nothing matches “${this.#search.value}”.` : "");
    if (focused) this.querySelector(`[data-key="${CSS.escape(focused)}"]`)?.focus();
  }

  /** Puts the cursor into the search, which a short list does not show of itself. */
  seek() {
    this.#search.hidden = false;
    this.#search.querySelector("input").focus();
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
    const missing = size > problems.length ? ` · ${problems.length} of ${size} have come` : "";
    const button = h("button.contest", { type: "button", "data-key": `contest ${key}`, ariaExpanded: String(open),
      onclick: () => this.#fold(key, !open) },
      icon("twist"), h("span.name", { title: name }, name),
      h("span.solved", { title: "solved" }, `${solved}/${problems.length}`));
    const list = open ? h("ol", {}, ...problems.map((each) => h("li", {}, this.#problem(each, here, running)))) : null;
    return h("section", {}, h("h3", {}, button), missing ? h("p.missing", {}, missing.slice(3)) : null, list);
  }

  #problem(problem, here, running) {
    const { id, name, url } = problem;
    const [sign, tone, word, words] = lookOf(problem, running.has(id));
    return h("a.problem", { href: addressOf(id), "data-key": `problem ${id}`, title: [name, url].filter(Boolean).join("\n"),
      ariaCurrent: id === here ? "true" : null, onclick: (event) => this.#open(event, id) },
      h("span.sign", { "data-tone": tone }, icon(sign)), h("span.name", {}, name),
      h("span.score", {}, word, h("span.unseen", {}, ` ${words}`)));
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

  /** Up and Down walk the list. */
  #key(event) {
    const by = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (!by || event.target.matches("input")) return;
    event.preventDefault();
    const rows = [...this.#contests.querySelectorAll("button, a")];
    rows[rows.indexOf(event.target) + by]?.focus();
  }
}

/** A folder into which nobody has looked yet has no number of `cases`. */
const isSolved = ({ standing, cases }) => Boolean(standing) && standing.failed === 0 && standing.passed >= cases;

function lookOf(problem, running) {
  const { standing, cases } = problem;
  if (running) return ["half", "info", "…", "running"];
  if (!standing && cases === undefined) return ["ring", "idle", "", "not run yet"];
  if (!standing) return ["ring", "idle", String(cases), cases === 1 ? "case, not run yet" : "cases, not run yet"];
  const score = `${standing.passed}/${cases ?? standing.passed + standing.failed}`;
  if (isSolved(problem)) return ["check", "good", score, "passed"];
  return standing.failed ? ["cross", "bad", score, "passed"] : ["ring", "idle", score, "passed, the others not run yet"];
}

function matches({ name, group, id }, words) {
  const text = `${name}\n${group}\n${id}`.toLowerCase();
  return words.every((word) => text.includes(word));
}

/** In the order in which they came: {key, name, problems, size: how many its batch is to have}. */
function contestsOf(problems) {
  const contests = new Map();
  for (const problem of problems) {
    const key = problem.contestId || problem.group;
    if (!contests.has(key)) contests.set(key, { key, name: problem.group || key, problems: [], size: 0 });
    const contest = contests.get(key);
    contest.problems.push(problem);
    contest.size = Math.max(contest.size, problem.batch?.size ?? 0);
  }
  return [...contests.values()];
}

customElements.define("judge-problems", JudgeProblems);
