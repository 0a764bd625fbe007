/**
 * Tells whether a key is meant for the page.
 *
 * While a word is composed (Japanese, Chinese, Korean, accents), Enter accepts it and Escape discards it: neither key
 * is for the page. Safari reports the Enter that ends a composition only after the end, and marks it only by key code
 * 229.
 */

const PROCESSED = 229;

export function inComposition({ isComposing, keyCode }) {
  return isComposing || keyCode === PROCESSED;
}
