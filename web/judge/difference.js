/**
 * Finds where two texts differ, line by line. Pure.
 *
 * Rules
 *   - Two lines are the same if the judge accepts one for the other under the current comparison.
 *   - If both sides have the same number of lines, lines are compared by number: each answer has its line, and a diff
 *     that shifts a column of Yes and No would explain nothing.
 *   - Otherwise as few lines as possible are taken as missing or in excess (Myers' greedy algorithm, O((n+m)·d)). If
 *     these are more than `FARTHEST`, the texts have nothing in common, and lines are compared by number again. So no
 *     pair of texts costs n·m.
 *   - If a text was cut, nothing is said about the part behind the cut.
 */

const FARTHEST = 250;

/** The lines of a text: {lines, ended: whether the last has its newline, cut: whether there is more}. */
export function linesOf(text, cut = false) {
  const lines = text.replaceAll("\r\n", "\n").split("\n");
  const ended = lines.at(-1) === "";
  if (ended) lines.pop();
  return { lines, ended: ended || lines.length === 0, cut };
}

/** A function that says whether two lines are the same, under the settings' `compare`. */
function sameness({ mode = "exact", caseSensitive = true, tolerance = 1e-6 } = {}) {
  const cased = caseSensitive ? (text) => text : (text) => text.toLowerCase();
  const words = (text) => cased(text).split(/\s+/).filter(Boolean);
  if (mode === "exact") return (one, other) => cased(one) === cased(other);
  if (mode === "trim") return (one, other) => cased(one.trimEnd()) === cased(other.trimEnd());
  const word = (one, other) => one === other || (mode === "float" && near(one, other, tolerance));
  return (one, other) => {
    if (one === other) return true;
    const [left, right] = [words(one), words(other)];
    return left.length === right.length && left.every((each, at) => word(each, right[at]));
  };
}

function near(one, other, tolerance) {
  const [left, right] = [Number(one), Number(other)];
  return Math.abs(left - right) <= tolerance * Math.max(1, Math.abs(left), Math.abs(right));
}

/**
 * The rows that show two texts side by side: [{left, right, differs}]. `left` and `right` are line numbers, beginning
 * with 0, or null if only the other side has a line there.
 */
export function aligned(left, right, compare = {}) {
  const alike = sameness(compare);
  const strict = (compare.mode ?? "exact") === "exact";
  const [a, b] = [left.lines, right.lines];
  const open = ({ lines, ended }, at) => at === lines.length - 1 && !ended;
  const unfinished = (text, at) => text.cut && !text.ended && at === text.lines.length - 1;
  const same = (i, j) => {
    if (unfinished(left, i) || unfinished(right, j)) return b[j].startsWith(a[i]) || a[i].startsWith(b[j]);
    return alike(a[i], b[j]) && (!strict || open(left, i) === open(right, j));
  };

  let head = 0;
  while (head < a.length && head < b.length && same(head, head)) head += 1;
  let tail = 0;
  const shorter = Math.min(a.length, b.length) - head;
  while (tail < shorter && same(a.length - 1 - tail, b.length - 1 - tail)) tail += 1;

  const [n, m] = [a.length - head - tail, b.length - head - tail];
  const met = n === m ? null : common(n, m, (i, j) => same(head + i, head + j));
  const rows = [];
  const put = (i, j, count, differs) => {
    for (let at = 0; at < count; at += 1) {
      rows.push({ left: i + at, right: j + at, differs: differs && !same(i + at, j + at) });
    }
  };
  const lone = (i, count, side) => {
    for (let at = 0; at < count; at += 1) {
      rows.push({ left: side === "left" ? i + at : null, right: side === "right" ? i + at : null, differs: true });
    }
  };
  const gap = (i, j, iEnd, jEnd) => {
    const paired = Math.min(iEnd - i, jEnd - j);
    put(i, j, paired, true);
    lone(i + paired, iEnd - i - paired, "left");
    lone(j + paired, jEnd - j - paired, "right");
  };

  put(0, 0, head, false);
  let [i, j] = [0, 0];
  for (const [x, y] of met ?? []) {
    gap(head + i, head + j, head + x, head + y);
    put(head + x, head + y, 1, false);
    [i, j] = [x + 1, y + 1];
  }
  gap(head + i, head + j, head + n, head + m);
  put(a.length - tail, b.length - tail, tail, false);
  return unsaid(rows, left, right);
}

/** Behind the end of a text that was cut, lines of the other text are no differences. */
function unsaid(rows, left, right) {
  for (let at = rows.length - 1; at >= 0; at -= 1) {
    const row = rows[at];
    if ((row.left === null && left.cut) || (row.right === null && right.cut)) row.differs = false;
    else break;
  }
  return rows;
}

/** The pairs [i, j] of a longest common subsequence, in order; null if the texts differ too much. */
function common(n, m, same) {
  const most = Math.min(n + m, FARTHEST);
  const zero = most + 1;
  const reach = new Int32Array(2 * most + 3);
  const trace = [];
  for (let step = 0; step <= most; step += 1) {
    trace.push(reach.slice(zero - step - 1, zero + step + 2));
    for (let k = -step; k <= step; k += 2) {
      const down = k === -step || (k !== step && reach[zero + k - 1] < reach[zero + k + 1]);
      let x = down ? reach[zero + k + 1] : reach[zero + k - 1] + 1;
      while (x < n && x - k < m && same(x, x - k)) x += 1;
      reach[zero + k] = x;
      if (x >= n && x - k >= m) return walkBack(trace, n, m);
    }
  }
  return null;
}

function walkBack(trace, n, m) {
  const pairs = [];
  let [x, y] = [n, m];
  for (let step = trace.length - 1; step >= 0; step -= 1) {
    const at = (k) => trace[step][k + step + 1];
    const k = x - y;
    const down = k === -step || (k !== step && at(k - 1) < at(k + 1));
    const before = down ? k + 1 : k - 1;
    const [fromX, fromY] = step === 0 ? [0, 0] : [at(before), at(before) - before];
    while (x > fromX && y > fromY) pairs.push([(x -= 1), (y -= 1)]);
    [x, y] = [fromX, fromY];
  }
  return pairs.reverse();
}

/**
 * The stretches [from, to] in which two lines differ: word by word if they have the same number of words, otherwise
 * everything between their common beginning and their common end.
 */
export function stretches(one, other) {
  const [left, right] = [pieces(one), pieces(other)];
  const [words, others] = [left, right].map((each) => each.filter(({ text }) => text.trim()));
  const wordy = words.length > 1 && words.length === others.length;
  if (wordy && left[0].text.trim() && right[0].text.trim()) {
    /** @type {number[][][]} */
    const found = [[], []];
    for (let at = 0; at < Math.max(left.length, right.length); at += 1) {
      if (left[at]?.text === right[at]?.text) continue;
      if (left[at]) found[0].push([left[at].from, left[at].from + left[at].text.length]);
      if (right[at]) found[1].push([right[at].from, right[at].from + right[at].text.length]);
    }
    return found;
  }
  const shorter = Math.min(one.length, other.length);
  let head = 0;
  while (head < shorter && one[head] === other[head]) head += 1;
  let tail = 0;
  while (tail < shorter - head && one[one.length - 1 - tail] === other[other.length - 1 - tail]) tail += 1;
  return [[[head, one.length - tail]], [[head, other.length - tail]]];
}

/** Words and the blanks between them. */
function pieces(text) {
  return Array.from(text.matchAll(/\s+|\S+/g), ({ 0: found, index }) => ({ text: found, from: index }));
}
