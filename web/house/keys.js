/**
 * What the keyboard means, where it is not plain.
 *
 * While a word is composed (Japanese, Chinese, Korean, accents), Enter chooses it and Escape gives it up: neither is for
 * the page. Safari tells of the Enter that ends a composition when it has ended, and marks it with 229 only.
 */

const PROCESSED = 229;

export function inComposition({ isComposing, keyCode }) {
  return isComposing || keyCode === PROCESSED;
}
