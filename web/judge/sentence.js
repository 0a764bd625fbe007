/** How it stands with the shown problem, as a sentence, a tone and a share. Pure. */

import { format } from "../house/house.js";
import { failures } from "./verdicts.js";

/** {tone: "idle|info|good|bad", score: "3/5", text, said (for ears), done, total}. */
export function standing({ cases, results, stale, run, summary, cancelled, interrupted }) {
  const total = cases.size;
  const fresh = [...results.values()].filter(({ index }) => !stale.has(index));
  const passed = fresh.filter(({ status }) => status === "pass").length;
  const score = `${passed}/${total}`;
  const failed = failures(fresh);
  if (run) {
    const wanted = run.wanted.size;
    const done = Math.min(run.done, wanted);
    const text = joined([`Running: ${done}/${wanted} done`, failed]);
    return { tone: "info", score, text, said: `Running ${cases_(wanted)}`, done, total: wanted };
  }
  if (fresh.length === 0 && !cancelled && !interrupted) {
    const text = total ? `${cases_(total)}, not run yet` : "No cases";
    return { tone: "idle", score: "", text, said: "", done: 0, total };
  }
  const left = total - fresh.length;
  const time = summary ? `${format.count(summary.durationMs)} ms` : null;
  const text = joined([
    `${cancelled ? "Cancelled: " : interrupted ? "Interrupted: " : ""}${score} passed${time ? `, ${time}` : ""}`,
    failed,
    left ? `${left} not run` : "",
  ]);
  const tone = passed === total ? "good" : passed < fresh.length ? "bad" : "idle";
  return { tone, score, text, said: text, done: fresh.length, total };
}

const joined = (parts) => parts.filter(Boolean).join(" · ");
const cases_ = (count) => (count === 1 ? "1 case" : `${format.count(count)} cases`);
