/**
 * The parts of the agent's page, and what all of them know: what there is, and what is chosen. It is drawn from here.
 *
 *   places.js      workspaces and sessions, asked for again while the page is looked at
 *   chosen.js      the session that one is in, and its stream
 *   answers.js     what the agent asks, and what the reader answers; undo
 *   choosing_model.js, rules.js     the model; the policy, and what is remembered
 *   searching.js   the search through the folder
 *   agent.js       the way in and out, the keyboard
 *
 * Each of them may use those above it. Whoever is refused for the token's sake tells `page`, which tells agent.js.
 */

import { must } from "../house/house.js";

/** @returns {any} */
const part = (selector) => must(document.querySelector(selector), selector);

export const parts = {
  bar: part("house-bar"),
  banner: part("house-banner"),
  main: part("main"),
  entrance: part("agent-access"),
  sidebar: part("agent-sessions"),
  head: part("agent-head"),
  plan: part("agent-plan"),
  transcript: part("agent-transcript"),
  empty: part(".session > house-empty"),
  waiting: part("agent-waiting"),
  composer: part("agent-composer"),
  question: part("agent-question"),
  folder: part("agent-folder"),
  models: part("agent-models"),
  rules: part("agent-rules"),
  undo: part("agent-undo"),
  search: part("agent-search"),
  keys: part("house-shortcuts"),
  heard: part("#heard"),
};

class Page extends EventTarget {
  /** @type {any[]} */
  workspaces = [];
  /** @type {any[]} */
  sessions = [];
  /** @type {string | null} */
  workspace = null;
  /** The model of sessions that have none of their own. @type {any} */
  usual = null;
  /** @type {import("./session.js").Session | null} */
  session = null;
  /** Of the model's window. */
  usage = { used: 0, window: 0 };

  /** The chosen session, as the list has it. */
  get fact() {
    return this.sessions.find(({ id }) => id === this.session?.id);
  }

  /** The token is not good, or no more. */
  refused(sentence) {
    this.dispatchEvent(new CustomEvent("refused", { detail: sentence }));
  }
}

export const page = new Page();

export function draw() {
  parts.sidebar.showWorkspaces(page.workspaces, page.workspace);
  parts.sidebar.show(page.sessions, page.session?.id ?? null);
  drawSession();
}

export function drawSession() {
  const { session, fact, usual, usage } = page;
  const state = session?.state;
  const title = state?.title || fact?.title;
  parts.head.show({
    title: title || (session ? "New session" : "Agent"),
    model: (fact && !fact.model_provider ? usual : null) ?? state?.model ?? session?.model ?? usual,
    used: usage.used || (state?.context_used ?? 0),
    window: usage.window || (state?.context_window ?? 0),
    clients: state?.clients ?? 0,
    mode: session ? (state?.mode ?? fact?.mode ?? "ask") : null,
    rules: Boolean(page.workspace),
  });
  parts.composer.hidden = !session;
  parts.composer.show({ running: state?.running ?? false, doubtful: session?.doubtful ?? [],
    unconfirmed: session?.unconfirmed ?? [], queued: state?.queued ?? [],
    trouble: state?.trouble ?? null });
  parts.plan.at(state?.current_step ?? 0);
  parts.plan.state({ mode: state?.mode ?? "ask", running: state?.running ?? false });
  const waiting = session?.requests.waiting ?? [];
  parts.waiting.show(waiting, state?.suspended ? suspendedOf(parts.transcript.askedAt) : "");
  const elsewhere = page.sessions.reduce((sum, { id, pending_approvals: pending }) => sum + (id === session?.id ? 0 : pending), 0);
  const all = waiting.length + elsewhere;
  document.title = [all ? `(${all}) ` : state?.running ? "… " : "", title || "Agent", " · Troupe"].join("");
  drawEmpty();
}

/** The server was ended and started meanwhile; a turn that waits for an answer waits on. */
function suspendedOf(at) {
  const since = at ? ` since ${new Date(at * 1000).toLocaleString([], { dateStyle: "medium", timeStyle: "short" })}` : "";
  return ` The turn waits for your answer${since}, and goes on when it has it.`;
}

function drawEmpty() {
  const { session, sessions, workspaces } = page;
  const { empty, transcript } = parts;
  empty.hidden = Boolean(session) && !transcript.isEmpty;
  transcript.hidden = !empty.hidden;
  if (empty.hidden) return;
  if (!workspaces.length) {
    empty.say("Add a folder to begin.", "The agent answers questions about the files in it, and changes them if you let it.", "Choose a folder…");
  } else if (!session) {
    empty.say(sessions.length ? "Choose a session, or begin a new one." : "Begin a session.",
      "A session is a talk about the files of a folder. It stays until you delete it.", "Begin a session");
  } else if (session.history) {
    empty.say("Reading what was said…");
  } else {
    empty.say("Ask about this folder.", "Such as: where is the configuration read? Or /explain @src/main.py");
  }
}
