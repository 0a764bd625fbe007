/**
 * Copies a text to the clipboard, and says so. A webview may refuse its clipboard to scripts, but not to its user: then
 * what shows the text (`shown`) is selected for them, or they are told what to do.
 */

import { notify } from "./notice.js";

/**
 * @param {string} text
 * @param {{said?: string, shown?: Element | null, otherwise?: string, tell?: (sentence: string, copied: boolean) => void}} [how]
 */
export async function copy(text, how = {}) {
  const { said = "Copied.", shown = null, tell = notify } = how;
  const otherwise = how.otherwise ?? (shown
    ? "The browser does not let this page copy. The text is selected: press Ctrl+C or ⌘C."
    : "The browser does not let this page copy. Select the text and press Ctrl+C or ⌘C.");
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    if (shown) getSelection()?.selectAllChildren(shown);
    tell(otherwise, false);
    return;
  }
  tell(said, true);
}
