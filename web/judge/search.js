/**
 * Finds problems, the best first. Pure.
 *
 * A problem is found if it contains all the words, anywhere. The best one is a problem whose name or id is the text
 * itself. Then come names that contain the text in whole words ("problem 1" is in "A. Problem 1", but not in "Problem
 * 10"), then problems that contain all words as whole words, then those with words that begin like them, and then the
 * others. Problems that are equally good keep their order.
 */

const EXACT = 0, WHOLE = 1, WORDS = 2, BEGIN = 3, BEGINNINGS = 4, SOMEWHERE = 5;

export const wordsOf = (text) => text.toLowerCase().split(/\s+/).filter(Boolean);

/** The problems that contain all words. */
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

/** A function that says whether each part is in a text at the beginning of a word and, if `whole`, ends with a word. */
function matcher(parts, whole) {
  const letter = "[\\p{L}\\p{N}]";
  const patterns = parts.map((part) => {
    const text = part.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
    return new RegExp(`(?<!${letter})${text}${whole ? `(?!${letter})` : ""}`, "u");
  });
  return (text) => patterns.every((pattern) => pattern.test(text));
}
