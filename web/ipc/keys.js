/** The keys of the desk's page. */

/** @type {import("../house/shortcuts.js").Shortcut[]} */
export const KEYS = [
  { keys: "j", wish: "next", sentence: "Next request, as Arrow down", moves: true },
  { keys: "k", wish: "previous", sentence: "Previous request, as Arrow up", moves: true },
  { keys: "Enter", wish: "open", sentence: "Open the request" },
  { keys: "Esc", wish: "leave", sentence: "Close the request; else let go of what is picked", pressed: ["Escape"] },
  { keys: "x", wish: "pick", sentence: "Pick the request, or let go of it, as the space bar" },
  { keys: "r", wish: "requeue", sentence: "Requeue what is picked; else the request" },
  { keys: "c", wish: "cancel", sentence: "Cancel what is picked; else the request" },
  { keys: "a", wish: "archive", sentence: "Archive what is picked; else the request" },
  { keys: "g", wish: "failed", sentence: "Show what gave up, or everything again" },
  { keys: "/", sentence: "Search" },
  { keys: "?", wish: "help", sentence: "This list" },
];
