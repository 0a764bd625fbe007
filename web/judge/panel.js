/**
 * The data of the page: the problem, its results, and the current run. Pure: messages in, a state to draw out.
 *
 *   idle --run/progress running--> running --run/complete--> idle
 *
 * Rules
 *   - A result belongs to the run with its number. Its `outdated` names what has changed since that run. Only existing
 *     cases have a result here.
 *   - A result stays until another one replaces it. If the current run (or the last one) was to judge a case and has
 * not
 *     done so, the result of that case is from an earlier run: `stale`.
 *   - The summary and `last` belong to the same run.
 *   - A message about another problem than the shown one changes only `elsewhere`.
 *   - Some servers do not number their runs, and do not say which cases a run judges. Then runs are counted here. A run
 *     judges the cases that this page has asked for; if it has not asked, the one case of a run for one, or all cases.
 *   - A text that was fetched as a whole is kept until its case changes.
 */

/** @import { Judge } from "../messages" */
/** @typedef {number | string} RunNumber a string where it was counted here */
/** @typedef {Omit<Judge.RunResult, "run"> & {run?: RunNumber | null}} Result */

/**
 * @typedef {{number: RunNumber, scope: string, at: number | null, wanted: Set<number>, judged: Set<number>}} Run
 */

/** @param {Judge.ShownProblem | null} problem */
const idOf = (problem) => problem?.id ?? (problem ? `${problem.contestId}/${problem.taskId}` : null);
const MOST_ARRIVED = 20;

export class Panel {
  /** Whether the server has sent a first message. */
  told = false;
  /** @type {Judge.ShownProblem | null} */
  problem = null;
  /** @type {Judge.RunSettings | null} */
  settings = null;
  /** @type {Judge.Commands | null} */
  commands = null;
  /** @type {Judge.Listed[]} */
  problems = [];
  /** @type {string | null} */
  current = null;
  /**
   * By the number of the case.
   *
   * @type {Map<number, Judge.Case>}
   */
  cases = new Map();
  /** @type {Map<number, Result>} */
  results = new Map();
  /**
   * `at` is the case that is being judged, `wanted` are the numbers of the run's cases, `judged` those with a result.
   *
   * @type {Run | null}
   */
  run = null;
  /**
   * The last run that is over; null if there is none, or it is not known.
   *
   * @type {{number: RunNumber, wanted: Set<number>, cancelled: boolean} | null}
   */
  last = null;
  /** @type {Judge.Summary | null} */
  summary = null;
  interrupted = false;
  /** Ids of other problems that are being judged. */
  elsewhere = new Set();
  /** Problems that came in while the page stayed with its own problem: {id, name}, the newest first. */
  arrived = [];
  /**
   * The last problem that this page has taken off the list; null if there is none.
   *
   * @type {{id: string, name: string} | null}
   */
  removed = null;

  /** @type {Judge.Listed | null} */
  #removing = null;
  /** @type {{id: string | null, wanted: Set<number>} | null} */
  #asked = null;
  #counted = 0;

  get id() {
    return idOf(this.problem);
  }

  get cancelled() {
    return Boolean(this.run === null && this.last?.cancelled && !this.interrupted);
  }

  get failed() {
    const failed = [...this.results.values()].filter(({ status }) => status !== "pass");
    return failed.map(({ index }) => index).sort((a, b) => a - b);
  }

  /** The numbers of cases whose result is from an earlier run than the one that was to judge them. */
  get stale() {
    const run = this.run ?? this.last;
    if (!run) return new Set();
    return new Set([...this.results.values()].filter((each) => run.wanted.has(each.index) && each.run !== run.number)
      .map(({ index }) => index));
  }

  /** Whether there is no run, and none was just asked for. */
  get free() {
    return this.run === null && this.#asked === null;
  }

  /** Remembers which cases this page has asked to be run. */
  ask(indices) {
    this.#asked = { id: this.id, wanted: new Set(indices) };
  }

  /** The connection is lost, or the server has refused the run. */
  unask() {
    this.#asked = null;
  }

  /** @param {Judge.Message} message */
  hear(message) {
    switch (message.type) {
      case "state/init": return this.#init(message);
      case "state/update": return this.#update(message);
      case "state/problems": return this.#list(message);
      case "state/problemsChanged": return this.#relist(message);
      case "state/case": return this.#whole(message);
      case "state/arrived": return this.#arrive(message.problem);
      case "run/progress": return this.#progress(message);
      case "run/result": return this.#result(message);
      case "run/complete": return this.#complete(message);
      case "notice": return message.level === "info" ? undefined : this.unask();
    }
  }

  /**
   * The user has seen that this problem (null: all of them) came in or was taken off: it is not mentioned any more.
   *
   * @param {string | null} id
   */
  seen(id = null) {
    this.arrived = id === null ? [] : this.arrived.filter((each) => each.id !== id);
    if (id === null || this.removed?.id === id) this.removed = null;
  }

  /** Remembers which problem this page has asked to be taken off the list. */
  remove(id) {
    this.#removing = this.problems.find((each) => each.id === id) ?? null;
  }

  /** @param {Judge.StateInit} message */
  #init(message) {
    const { problem = null, settings, commands = null, results = [], summary = null } = message;
    const { running = null, interrupted = false, last = null } = message;
    this.told = true;
    const [before, known] = [this.run, new Map(this.results)];
    const same = this.#take(problem);
    this.settings = settings;
    this.commands = commands;
    const there = results.filter(({ index }) => this.cases.has(index));
    const runOf = (/** @type {Judge.RunResult} */ { run, index }) => run ?? (same && before && running ? known.get(index)?.run : undefined);
    this.results = new Map(there.map((each) => [each.index, { ...each, run: runOf(each) }]));
    this.interrupted = interrupted;
    this.last = last && { number: last.run, wanted: new Set(last.indices), cancelled: Boolean(last.cancelled) };
    this.summary = running ? null : summary;
    this.#asked = same ? this.#asked : null;
    this.run = null;
    if (!running) return;
    const goesOn = same && before && (running.run === undefined || running.run === before.number);
    const at = running.currentIndex ?? null;
    const run = goesOn ? (this.run = { ...before, at }) : this.#begin(running.scope, at, running);
    if (running.run === undefined) this.#adopt(run);
    for (const result of this.results.values()) if (result.run === run.number) run.judged.add(result.index);
  }

  /** @param {Judge.StateUpdate} message */
  #update({ problem, outdated = [] }) {
    if (!this.#take(problem)) this.run = null;
    const reasons = new Map(outdated.map((each) => [each.index, each.reasons]));
    for (const [index, result] of this.results) {
      const now = reasons.get(index) ?? [];
      if (String(now) !== String(result.outdated ?? [])) this.results.set(index, { ...result, outdated: now });
    }
  }

  /**
   * Shows this problem from now on. Returns whether it is the one that was shown before.
   *
   * @param {Judge.ShownProblem | null} problem
   */
  #take(problem) {
    const same = idOf(problem) !== null && idOf(problem) === this.id;
    const old = same ? this.cases : new Map();
    this.problem = problem;
    this.cases = new Map((problem?.cases ?? []).map((each) => [each.index, newer(old.get(each.index), each)]));
    this.seen(idOf(problem) ?? "");
    if (same) {
      for (const index of this.results.keys()) if (!this.cases.has(index)) this.results.delete(index);
      return true;
    }
    this.elsewhere.delete(this.id);
    this.results.clear();
    this.summary = this.last = null;
    this.interrupted = false;
    this.#asked = null;
    return false;
  }

  /** @param {Pick<Judge.StateProblems, "problems" | "current">} message */
  #list({ problems, current = null }) {
    this.problems = problems;
    this.current = current;
    const known = new Set(problems.map(({ id }) => id));
    const there = this.arrived.filter(({ id, fresh }) => fresh || known.has(id));
    this.arrived = there.map((each) => ({ ...each, fresh: false }));
    if (this.removed && known.has(this.removed.id)) this.removed = null;
    if (!this.#removing || known.has(this.#removing.id)) return;
    this.removed = { id: this.#removing.id, name: this.#removing.name };
    this.#removing = null;
  }

  /** @param {Judge.StateProblemsChanged} message */
  #relist({ gone = [], problems = [], current = null }) {
    const left = new Set(gone);
    const list = new Map(this.problems.filter(({ id }) => !left.has(id)).map((each) => [each.id, each]));
    for (const each of problems) list.set(each.id, each); // which keeps the place of one that is there
    this.#list({ problems: [...list.values()], current });
  }

  /**
   * A problem has come in. This message may come before the list that contains the problem.
   *
   * @param {Judge.Listed} problem
   */
  #arrive({ id, name }) {
    if (id === this.id) return;
    this.arrived = [{ id, name, fresh: true }, ...this.arrived.filter((each) => each.id !== id)].slice(0, MOST_ARRIVED);
  }

  /** @param {Judge.StateCase} message */
  #whole({ problemId, case: whole, result }) {
    if (!this.#mine(problemId) || !this.cases.has(whole.index)) return;
    this.cases.set(whole.index, whole);
    if (result && this.results.has(whole.index)) this.results.set(whole.index, result);
  }

  /** @param {Judge.RunProgress} message */
  #progress({ scope, running, currentIndex = null, problemId, run, indices }) {
    if (!this.#mine(problemId)) {
      if (running) this.elsewhere.add(problemId);
      else this.elsewhere.delete(problemId);
      return;
    }
    if (!running) this.#asked = null;
    if (!running) this.#leave(true, run);
    else if (this.run && (run === undefined || run === this.run.number)) this.run.at = currentIndex ?? this.run.at;
    else this.#begin(scope, currentIndex, { run, indices });
  }

  /**
   * Results come in the order of the cases, so all results before the current case belong to this run.
   *
   * @param {Run} run
   */
  #adopt({ at, scope, number }) {
    if (scope !== "all" || at === null) return;
    for (const [index, result] of this.results) {
      if (index < at) this.results.set(index, { ...result, run: number });
    }
  }

  /**
   * @param {string} scope
   * @param {number | null} at
   * @param {{run?: number | null, indices?: number[] | null}} told
   */
  #begin(scope, at, { run, indices }) {
    const all = [...this.cases.keys()];
    const asked = this.#asked?.id === this.id ? this.#asked.wanted : null;
    const wanted = indices ? new Set(indices) : asked ?? new Set(scope === "one" && at !== null ? [at] : all);
    const begun = { number: run ?? `counted ${(this.#counted += 1)}`, scope, at, wanted, judged: new Set() };
    this.run = begun;
    this.interrupted = false;
    this.summary = null;
    this.#asked = null;
    return begun;
  }

  /** @param {Judge.RunReport} message */
  #result({ result, problemId }) {
    if (!this.#mine(problemId)) return;
    const told = { ...result, run: result.run ?? this.run?.number };
    if (this.cases.has(result.index)) this.results.set(result.index, told);
    if (this.run && told.run === this.run.number) this.run.judged.add(result.index);
  }

  /** @param {Judge.RunComplete} message */
  #complete({ summary, cancelled = false, problemId, run }) {
    if (!this.#mine(problemId)) {
      this.elsewhere.delete(problemId);
      return;
    }
    this.#asked = null;
    this.#leave(cancelled, run);
    if (run !== undefined && run !== this.last?.number) return;
    this.summary = summary;
    if (this.last) this.last.cancelled = cancelled;
  }

  /**
   * The run is over.
   *
   * @param {boolean} cancelled it was cancelled, as far as is known
   * @param {number | null} [number] the run's own; undefined: that of the run that is known
   */
  #leave(cancelled, number) {
    if (!this.run || (number !== undefined && number !== this.run.number)) return;
    this.last = { number: this.run.number, wanted: this.run.wanted, cancelled };
    this.run = null;
  }

  #mine(problemId) {
    return problemId === undefined || problemId === null || problemId === this.id;
  }
}

/**
 * The current version of a case. If it has not changed, it keeps the whole texts that were fetched already.
 *
 * @param {Judge.Case | undefined} old
 * @param {Judge.Case} now
 */
function newer(old, now) {
  if (!old) return now;
  if (old.version && now.version) return old.version === now.version ? old : now;
  const same = old.inputSize === now.inputSize && old.expectedSize === now.expectedSize &&
    old.inputContent.startsWith(now.inputContent) && old.expectedContent.startsWith(now.expectedContent);
  return same ? old : now;
}
