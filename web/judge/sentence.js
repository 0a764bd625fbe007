/**
 * The state of the shown problem, as a sentence, a tone and a share. Pure.
 *
 * Rules
 *   - A case counts as passed or failed only if its result belongs to the current solution, test, interpreter and
 *     settings.
 *   - A time is that of one run, and is shown with the result of that run. If the cases' last results come from several
 *     runs, the sentence first tells about the last run alone, and then about all cases.
 */

import { format } from "../house/house.js";
import { failures } from "./verdicts.js";

/** What has changed since a result, in words: [for its line, for the tooltip]. */
const REASONS = {
  solution: ["main.py edited since", "main.py was edited, or only saved, after this case had begun."],
  test: ["test edited since", "This test was edited, or only saved, after its case had begun."],
  interpreter: ["other interpreter", "This is the result of another interpreter than the chosen one."],
  settings: ["other settings", "This is the result with other limits, another comparison or another working folder."],
};
const SINCE = {
  solution: "main.py was edited", test: "the tests were edited", interpreter: "the interpreter was changed",
  settings: "the settings were changed",
};

/**
 * {brief, words} for a result that is outdated; null if it is not.
 *
 * @param {Pick<import("./panel.js").Result, "outdated">} result
 */
export function outdated({ outdated: reasons = [] }) {
  const known = reasons.map((each) => REASONS[each] ?? ["changed since", "Something was changed since."]);
  return known.length ? { brief: known[0][0], words: known.map(([, words]) => words).join(" ") } : null;
}

/**
 * {tone: "idle|info|good|bad", score: "3/5", text, said (for screen readers), done, total}.
 *
 * @param {import("./panel.js").Panel} panel
 */
export function standing(panel) {
  const { cases, results, stale, run, cancelled, interrupted } = panel;
  const total = cases.size;
  if (run) return running(panel);
  const there = [...results.values()].filter(({ index }) => cases.has(index) && !stale.has(index));
  const fresh = there.filter((each) => !outdated(each));
  const old = there.length - fresh.length;
  const again = [...stale].filter((index) => cases.has(index)).length;
  const left = total - there.length - again;
  const passed = passes(fresh);
  const score = `${passed}/${total}`;
  if (total === 0 || (there.length === 0 && !cancelled && !interrupted)) {
    const text = total ? `${cases_(total)}, not run yet` : "No cases";
    return { tone: "idle", score: "", text, said: "", done: 0, total };
  }
  if (fresh.length === 0 && old > 0) {
    const text = joined([`Not run since ${since(there)}: ${passes(there)}/${old} had passed`, ...missing(again, left)]);
    return { tone: "idle", score: "", text, said: text, done: 0, total };
  }
  const { alone, time } = ofLastRun(panel, fresh);
  const word = cancelled ? "Cancelled" : interrupted ? "Interrupted" : "";
  const text = joined([
    alone && word ? `${word}. ${alone}` : alone,
    `${alone ? "in all " : word && `${word}: `}${score} passed${time}`,
    failures(fresh),
    old ? `${format.count(old)} from before ${edits(there)}` : "",
    ...missing(again, left),
  ]);
  const tone = passed === total ? "good" : passed < fresh.length ? "bad" : "idle";
  return { tone, score, text, said: text, done: fresh.length, total };
}

function running({ cases, results, run }) {
  const judged = [...results.values()].filter((each) => each.run === run.number && !outdated(each));
  const [done, total] = [run.judged.size, run.wanted.size];
  const text = joined([`Running: ${format.count(done)}/${format.count(total)} done`, failures(judged)]);
  const score = `${passes(judged)}/${cases.size}`;
  return { tone: "info", score, text, said: `Running ${cases_(total)}`, done, total };
}

/**
 * {alone: the result of the last run, if there are results of other runs, too; time: of all cases that are counted}.
 *
 * @param {import("./panel.js").Panel} panel
 */
function ofLastRun({ last, summary }, fresh) {
  const runs = new Set(fresh.map(({ run }) => run));
  const own = last ? fresh.filter(({ run }) => run === last.number) : fresh;
  const time = summary && summary.total === own.length ? `, ${format.count(summary.durationMs)} ms` : "";
  if (runs.size <= 1 && (!last || own.length === fresh.length)) return { alone: "", time };
  if (!last || own.length === 0) return { alone: "", time: "" };
  if (last.wanted.size === 1) {
    const [{ index, status, verdict }] = own;
    return { alone: `Case ${index}: ${verdict ?? status}${time}`, time: "" };
  }
  return { alone: `Run of ${cases_(last.wanted.size)}: ${passes(own)} passed${time}`, time: "" };
}

const missing = (again, left) => [
  again ? `${format.count(again)} not run again` : "", left ? `${format.count(left)} not run` : ""];
const passes = (results) => results.filter(({ status }) => status === "pass").length;
const joined = (parts) => parts.filter(Boolean).join(" · ");
const cases_ = (count) => (count === 1 ? "1 case" : `${format.count(count)} cases`);
const reasonsOf = (results) => new Set(results.flatMap(({ outdated: reasons = [] }) => reasons));

function since(results) {
  const reasons = Object.keys(SINCE).filter((each) => reasonsOf(results).has(each)).map((each) => SINCE[each]);
  return reasons.join(" and ") || "something was changed";
}

function edits(results) {
  const reasons = reasonsOf(results);
  return reasons.has("solution") || reasons.has("test") ? "an edit" : "a change of the settings";
}
