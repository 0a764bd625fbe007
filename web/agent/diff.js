/**
 * A unified diff, read: its hunks, their lines with their numbers, and which words of a line have changed. Pure.
 *
 * A hunk ends when it has as many lines as its head says, so a line that looks like a head is one of its lines. What is
 * no diff is shown as it is, as the lines of one hunk.
 *
 * @typedef {{kind: "same" | "add" | "del" | "note", text: string, old: number | null, now: number | null,
 *   marked: [number, number] | null}} Line
 * @typedef {{head: string, start: number, lines: Line[]}} Hunk
 */

const HEAD = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@ ?(.*)$/;
const KINDS = new Map([[" ", "same"], ["+", "add"], ["-", "del"], ["\\", "note"]]);
const WORDS = /[\p{L}\p{N}_]+|\s+|[^\p{L}\p{N}_\s]/gu;
/** Characters of a line whose words are compared. */
const LONGEST = 1000;

/** @returns {Hunk[]} */
export function hunksOf(diff, told = []) {
  return told.length ? told.map(hunkOf) : read(diff);
}

/** @param {{old_start: number, old_lines: number, new_start: number, new_lines: number, content: string}} told */
function hunkOf({ old_start: old, old_lines: oldLines, new_start: now, new_lines: nowLines, content }) {
  const rows = splitLines(content);
  const headed = HEAD.exec(rows[0] ?? "");
  const hunk = begun(old, now, headed?.[5] ?? "");
  for (const row of headed ? rows.slice(1) : rows) take(hunk, row);
  return ended(hunk, `@@ -${old},${oldLines} +${now},${nowLines} @@`);
}

function read(diff) {
  /** @type {Hunk[]} */
  const hunks = [];
  let open = null;
  let [olds, news] = [0, 0];
  const end = () => {
    if (open) hunks.push(ended(open.hunk, open.head));
    open = null;
  };
  for (const row of splitLines(diff)) {
    if (open && (olds > 0 || news > 0 || row.startsWith("\\"))) {
      const kind = take(open.hunk, row);
      if (kind === "same" || kind === "del") olds -= 1;
      if (kind === "same" || kind === "add") news -= 1;
      continue;
    }
    const head = HEAD.exec(row);
    if (!head) continue;
    end();
    [olds, news] = [Number(head[2] ?? 1), Number(head[4] ?? 1)];
    open = { hunk: begun(Number(head[1]), Number(head[3]), head[5]), head: row };
  }
  end();
  return hunks;
}

function splitLines(text) {
  const rows = text.split("\n");
  if (rows.at(-1) === "") rows.pop();
  return rows;
}

const begun = (old, now, about) => ({ old, now, start: now, about, lines: /** @type {Line[]} */ ([]) });

/** Adds a line; its kind. */
function take(hunk, row) {
  const kind = KINDS.get(row[0] ?? " ") ?? "same";
  const text = KINDS.has(row[0]) ? row.slice(1) : row;
  const line = /** @type {Line} */ ({ kind, text, old: null, now: null, marked: null });
  if (kind === "same" || kind === "del") line.old = hunk.old++;
  if (kind === "same" || kind === "add") line.now = hunk.now++;
  hunk.lines.push(line);
  return kind;
}

function ended({ start, lines }, head) {
  for (const [gone, come] of changedPairs(lines)) markWords(gone, come);
  return { head, start, lines };
}

/** Runs of removed lines with the added ones that come right after them, line by line. */
function* changedPairs(lines) {
  for (let at = 0; at < lines.length;) {
    const [gone, afterGone] = run(lines, at, "del");
    const [come, after] = run(lines, afterGone, "add");
    for (let row = 0; row < Math.min(gone.length, come.length); row += 1) yield [gone[row], come[row]];
    at = Math.max(after, at + 1);
  }
}

/** @returns {[Line[], number]} the lines of this kind from here on, and where they end */
function run(lines, from, kind) {
  let to = from;
  while (lines[to]?.kind === kind) to += 1;
  return [lines.slice(from, to), to];
}

/** Marks what is not the same at both ends of the two lines, unless that is nearly all. */
function markWords(gone, come) {
  if (gone.text.length > LONGEST || come.text.length > LONGEST) return;
  const [one, other] = [gone.text.match(WORDS) ?? [], come.text.match(WORDS) ?? []];
  const least = Math.min(one.length, other.length);
  let head = 0;
  while (head < least && one[head] === other[head]) head += 1;
  let tail = 0;
  while (tail < least - head && one.at(-1 - tail) === other.at(-1 - tail)) tail += 1;
  const shared = one.slice(0, head).concat(one.slice(one.length - tail)).join("").trim().length;
  if (shared < 3 || shared * 4 < Math.min(gone.text.trim().length, come.text.trim().length)) return;
  for (const [line, words] of [[gone, one], [come, other]]) {
    const from = words.slice(0, head).join("").length;
    const to = line.text.length - words.slice(words.length - tail).join("").length;
    if (to > from) line.marked = [from, to];
  }
}

/** The two sides of a hunk: what stands beside what. @returns {[Line | null, Line | null][]} */
export function sidesOf(lines) {
  /** @type {[Line | null, Line | null][]} */
  const rows = [];
  for (let at = 0; at < lines.length;) {
    const line = lines[at];
    if (line.kind === "same" || line.kind === "note") {
      rows.push([line, line]);
      at += 1;
      continue;
    }
    const [gone, afterGone] = run(lines, at, "del");
    const [come, after] = run(lines, afterGone, "add");
    for (let row = 0; row < Math.max(gone.length, come.length); row += 1) rows.push([gone[row] ?? null, come[row] ?? null]);
    at = after;
  }
  return rows;
}

/** How many lines come and go. */
export function tallyOf(hunks) {
  const count = (kind) => hunks.reduce((sum, { lines }) => sum + lines.filter((line) => line.kind === kind).length, 0);
  return { added: count("add"), removed: count("del") };
}
