/**
 * Which problems a search finds, the best first. Pure.
 *
 * All words have to be there, somewhere. What is best: the name or id itself; then a name that has the words as they
 * stand, as whole words ("problem 1" is in "A. Problem 1" and not in "Problem 10"); then whole words anywhere; then
 * beginnings of words; then the rest. What is equally good stays in its order.
 */

const EXACT = 0, WHOLE = 1, WORDS = 2, BEGIN = 3, BEGINNINGS = 4, SOMEWHERE = 5;

export const wordsOf = (text) => text.toLowerCase().split(/\s+/).filter(Boolean);

/** The problems in which all words are. */
export function found(problems, words) {
  if (!words.length) return problems;
  const ranked = problems.map((problem, at) => ({ problem, at, rank: rankOf(problem, words) }));
  return ranked.filter(({ rank }) => rank !== null).sort((a, b) => a.rank - b.rank || a.at - b.at)
    .map(({ problem }) => problem);
}

function rankOf({ name, group, id }, words) {
  const [title, all, wanted] = [name.toLowerCase(), `${name}\n${group}\n${id}`.toLowerCase(), words.join(" ")];
  if (!words.every((word) => all.includes(word))) return null;
  if (title === wanted || id.toLowerCase() === wanted) return EXACT;
  if (matcher([wanted], true)(title)) return WHOLE;
  if (matcher(words, true)(all)) return WORDS;
  if (matcher([wanted], false)(title)) return BEGIN;
  return matcher(words, false)(all) ? BEGINNINGS : SOMEWHERE;
}

/** Whether each of these stands in a text where a word begins; and, if they are to be whole, ends where one ends. */
function matcher(parts, whole) {
  const letter = "[\\p{L}\\p{N}]";
  const patterns = parts.map((part) => {
    const text = part.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
    return new RegExp(`(?<!${letter})${text}${whole ? `(?!${letter})` : ""}`, "u");
  });
  return (text) => patterns.every((pattern) => pattern.test(text));
}
