/**
 * Who has said or done something, in words. Clients are told by the names that they give themselves; the page in any
 * browser is "web", and our own commands begin with "troupe".
 */

/** As the end of a sentence, such as: Approved in a browser. It begins with a space, or is empty. @param {string} [name] */
export function doneBy(name) {
  if (!name) return "";
  if (name === "web") return " in a browser";
  return /^troupe( |$)/.test(name) ? " at the command line" : ` by ${name}`;
}
