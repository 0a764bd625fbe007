/**
 * What the page knows: the problem, its results, and the run that is under way. Pure: messages in, a state to draw out.
 *
 *   idle --run/progress running--> running --run/complete--> idle
 *
 * Rules
 *   - Results stay until others take their place. While a run is under way, what it has still to judge is `stale`; what
 *     a cancelled or broken run never came to stays so.
 *   - What a message says about another problem than the shown one changes nothing here but `elsewhere`.
 *   - Results come in the order of the cases, so of a run that this page did not see begin, all before the current case
 *     is done.
 *   - A text that was asked for whole is kept until its case is another.
 */

const idOf = (problem) => problem?.id ?? (problem ? `${problem.contestId}/${problem.taskId}` : null);

export class Panel {
  /** Whether the server has said anything yet. */
  told = false;
  problem = null;
  settings = null;
  commands = null;
  problems = [];
  current = null;
  /** By number of the case. */
  cases = new Map();
  results = new Map();
  stale = new Set();
  /** {scope, at: the case it waits for, wanted: numbers of its cases, done: how many have come}; null if none. */
  run = null;
  summary = null;
  cancelled = false;
  interrupted = false;
  /** Ids of other problems that are being judged. */
  elsewhere = new Set();

  #asked = null;

  get id() {
    return idOf(this.problem);
  }

  get failed() {
    const failed = [...this.results.values()].filter(({ status }) => status !== "pass");
    return failed.map(({ index }) => index).sort((a, b) => a - b);
  }

  /** Whether nothing is under way or just asked for. */
  get free() {
    return this.run === null && this.#asked === null;
  }

  /** Remembers what this page has asked to be run, since a run does not say which cases it is about. */
  ask(indices) {
    this.#asked = { id: this.id, wanted: new Set(indices) };
  }

  /** The server is gone, or has refused. */
  unask() {
    this.#asked = null;
  }

  hear(message) {
    switch (message.type) {
      case "state/init": return this.#init(message);
      case "state/update": return this.#update(message.problem);
      case "state/problems": return this.#list(message);
      case "state/case": return this.#whole(message);
      case "run/progress": return this.#progress(message);
      case "run/result": return this.#result(message);
      case "run/complete": return this.#complete(message);
      case "notice": return message.level === "info" ? undefined : this.unask();
    }
  }

  #init({ problem = null, settings, results, summary, running = null, interrupted = false, commands = null }) {
    this.told = true;
    const before = this.run;
    const same = this.#take(problem);
    this.settings = settings;
    this.commands = commands;
    if (results) this.results = new Map(results.map((result) => [result.index, result]));
    if (results && !(same && before && running)) this.stale.clear();
    this.summary = summary ?? (same ? this.summary : null);
    this.interrupted = interrupted;
    this.#asked = same ? this.#asked : null;
    this.run = null;
    if (!running) {
      if (!interrupted && before) this.stale.clear();
      return;
    }
    const { scope, currentIndex: at = null } = running;
    if (same && before) this.run = { ...before, at };
    else this.#begin(scope, at, at ?? 1);
  }

  #update(problem) {
    if (!this.#take(problem)) this.run = null;
  }

  /** Shows this problem from now on; whether it is the one that was shown before. */
  #take(problem) {
    const same = idOf(problem) !== null && idOf(problem) === this.id;
    const old = same ? this.cases : new Map();
    this.problem = problem;
    this.cases = new Map((problem?.cases ?? []).map((each) => [each.index, newer(old.get(each.index), each)]));
    if (same) {
      for (const index of this.results.keys()) if (!this.cases.has(index)) this.results.delete(index);
      return true;
    }
    this.elsewhere.delete(this.id);
    this.results.clear();
    this.stale.clear();
    this.summary = null;
    this.cancelled = this.interrupted = false;
    this.#asked = null;
    return false;
  }

  #list({ problems, current = null }) {
    this.problems = problems;
    this.current = current;
  }

  #whole({ problemId, case: whole, result }) {
    if (!this.#mine(problemId) || !this.cases.has(whole.index)) return;
    this.cases.set(whole.index, whole);
    if (result && this.results.has(whole.index)) this.results.set(whole.index, result);
  }

  #progress({ scope, running, currentIndex = null, problemId }) {
    if (!this.#mine(problemId)) {
      if (running) this.elsewhere.add(problemId);
      else this.elsewhere.delete(problemId);
      return;
    }
    if (!running) this.run = this.#asked = null;
    else if (this.run) this.run.at = currentIndex ?? this.run.at;
    else this.#begin(scope, currentIndex);
  }

  #begin(scope, at, first = 1) {
    const all = [...this.cases.keys()].filter((index) => index >= first);
    const asked = this.#asked?.id === this.id ? this.#asked.wanted : null;
    const wanted = asked ?? new Set(scope === "one" && at !== null ? [at] : all);
    this.run = { scope, at, wanted, done: 0 };
    this.stale = new Set([...wanted].filter((index) => this.results.has(index)));
    this.cancelled = this.interrupted = false;
    this.summary = null;
    this.#asked = null;
  }

  #result({ result, problemId }) {
    if (!this.#mine(problemId)) return;
    this.results.set(result.index, result);
    this.stale.delete(result.index);
    if (this.run) this.run.done += 1;
  }

  #complete({ summary, cancelled = false, problemId }) {
    if (!this.#mine(problemId)) {
      this.elsewhere.delete(problemId);
      return;
    }
    this.run = null;
    this.#asked = null;
    this.summary = summary;
    this.cancelled = cancelled;
    if (!cancelled) this.stale.clear();
  }

  #mine(problemId) {
    return problemId === undefined || problemId === null || problemId === this.id;
  }
}

/** The case as it is now; with the whole texts that are known already, if it has not changed. */
function newer(old, now) {
  const same = old && old.inputSize === now.inputSize && old.expectedSize === now.expectedSize &&
    old.inputContent.startsWith(now.inputContent) && old.expectedContent.startsWith(now.expectedContent);
  return same ? old : now;
}
