/** How a result is shown: an icon, a tone, letters and words. An unknown verdict looks like its status. */

const VERDICTS = {
  AC: ["check", "good", "Accepted"],
  WA: ["cross", "bad", "Wrong answer"],
  TLE: ["clock", "warn", "Time limit exceeded"],
  MLE: ["stack", "warn", "Memory limit exceeded"],
  OLE: ["unfold", "warn", "Output limit exceeded"],
  RE: ["alarm", "bad", "Runtime error"],
  CE: ["alarm", "bad", "The program cannot be started"],
  IE: ["alarm", "bad", "The judge itself failed"],
};

const STATUSES = {
  pass: ["check", "good", "Passed"],
  fail: ["cross", "bad", "Failed"],
  timeout: ["clock", "warn", "Timed out"],
  re: ["alarm", "bad", "Runtime error"],
};

/** @param {Pick<import("../messages").Judge.RunResult, "verdict" | "status">} result */
export function verdictOf({ verdict, status }) {
  const [sign, tone, words] = VERDICTS[verdict] ?? STATUSES[status] ?? ["ring", "idle", String(status)];
  return { sign, tone, words, letters: verdict ?? String(status) };
}

/** How many cases have which verdict: "1 WA, 2 TLE". Accepted cases are not mentioned. */
export function failures(results) {
  const counts = new Map();
  for (const result of results) {
    if (result.status === "pass") continue;
    const { letters } = verdictOf(result);
    counts.set(letters, (counts.get(letters) ?? 0) + 1);
  }
  return [...counts].map(([letters, times]) => `${times} ${letters}`).join(", ");
}
