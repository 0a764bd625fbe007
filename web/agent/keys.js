/** The keys of the agent's page. What a key answers is the request that has the focus (answers.js). */

/** @typedef {import("../house/shortcuts.js").Shortcut} Shortcut */

/** @type {Shortcut[]} */
export const KEYS = [
  { keys: "i", wish: "write", sentence: "Write a message" },
  { keys: "Esc", wish: "stop", sentence: "Stop the turn", pressed: ["Escape"], always: true },
  { keys: "w", wish: "request", sentence: "Go to what waits for your answer; again: to the next", moves: true },
  { keys: "Shift W", wish: "back", sentence: "Go to the one before", pressed: ["W"], moves: true },
  { keys: "a", wish: "approve", sentence: "Approve the request that has the focus" },
  { keys: "r", wish: "reject", sentence: "Reject it; you are asked why" },
  { keys: "h", wish: "nextHunk", sentence: "Its next hunk; Space takes it or leaves it", moves: true },
  { keys: "Shift H", wish: "lastHunk", sentence: "Its hunk before", pressed: ["H"], moves: true },
  { keys: "d", wish: "sides", sentence: "Changes side by side, or in one column" },
  { keys: "u", wish: "undo", sentence: "Undo the last turn: first you see what that would do" },
  { keys: "p", wish: "rules", sentence: "What the agent may do here" },
  { keys: "/", wish: "search", sentence: "Search this folder" },
  { keys: "n", wish: "create", sentence: "New session" },
  { keys: "j", wish: "next", sentence: "Next session", moves: true },
  { keys: "k", wish: "previous", sentence: "Previous session", moves: true },
  { keys: "m", wish: "models", sentence: "Choose a model" },
  { keys: "e", wish: "end", sentence: "Go to the end of the transcript" },
  { keys: "?", wish: "help", sentence: "This list" },
];

/** @type {Record<string, Shortcut[]>} */
export const LISTS = {
  "": KEYS,
  "In the field": [
    { keys: "Enter", sentence: "Send; while a turn runs, it waits for its end" },
    { keys: "Alt Enter", sentence: "Steer the turn: it hears it before its next step" },
    { keys: "Shift Enter", sentence: "A new line" },
    { keys: "↑", sentence: "In an empty field: to what waits for your answer" },
  ],
  "In the search": [
    { keys: "↑ ↓", sentence: "The place before, the next one" },
    { keys: "Enter", sentence: "Put it into the message" },
    { keys: "Alt Enter", sentence: "Copy path and line" },
  ],
  "In a plan that is approved": [{ keys: "Alt ↑ ↓", sentence: "Move the step" }],
};
