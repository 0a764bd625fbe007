/** The keys of the judge's page, and whether its user is at them. */

import { isField } from "../house/house.js";

/** The wishes are those in judge.js. @type {import("../house/shortcuts.js").Shortcut[]} */
export const KEYS = [
  { keys: "r", wish: "runall", sentence: "Run all cases" },
  { keys: "f", wish: "runfailed", sentence: "Run the failed cases" },
  { keys: "x", wish: "runcurrent", sentence: "Run this case" },
  { keys: "1 … 9", wish: "runnumber", sentence: "Run case 1 … 9", pressed: [..."123456789"] },
  { keys: "c", wish: "cancel", sentence: "Cancel the run" },
  { keys: "Esc", wish: "escape", sentence: "Close the list that lies over the problem; else cancel the run", pressed: ["Escape"] },
  { keys: "j", wish: "next", sentence: "Next case", moves: true },
  { keys: "k", wish: "previous", sentence: "Previous case", moves: true },
  { keys: "Enter", wish: "toggle", sentence: "Unfold or fold the case" },
  { keys: "o", wish: "fold", sentence: "Fold or unfold all cases" },
  { keys: "g", wish: "gofailed", sentence: "Go to the first failed case" },
  { keys: "n", wish: "nextdifference", sentence: "Next difference in this case", moves: true },
  { keys: "p", wish: "previousdifference", sentence: "Previous difference", moves: true },
  { keys: "w", wish: "blanks", sentence: "Show all blanks" },
  { keys: "]", wish: "nextproblem", sentence: "Next problem" },
  { keys: "[", wish: "previousproblem", sentence: "Previous problem" },
  { keys: "b", wish: "list", sentence: "Show or hide the list of problems" },
  { keys: "/", wish: "search", sentence: "Search the problems" },
  { keys: "t", wish: "pin", sentence: "Stay with this problem when another one comes in, or follow again" },
  { keys: "s", wish: "settings", sentence: "Settings" },
  { keys: "?", wish: "help", sentence: "This list" },
];

const JUST_NOW = 2_000; // ms
let typed = -Infinity;

document.addEventListener("keydown", () => (typed = performance.now()), { capture: true });

/** Whether the user is at the keyboard: the focus is in a field or in a dialog, or a key was pressed just now. */
export function isTyping() {
  if (document.querySelector("dialog[open]")) return true;
  return document.hasFocus() && (isField(document.activeElement) || performance.now() - typed < JUST_NOW);
}
