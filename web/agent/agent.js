/**
 * The agent's page: workspaces, their sessions, and what is said and done in one of them.
 *
 *   HTTP (api.js)        workspaces, sessions, models, policy; asked again while the page is looked at
 *   stream (session.js)  the chosen session's log, and how it is now -> transcript, plan, head, composer, requests
 *
 * This is the way in and out, and the keyboard; page.js says where the rest is.
 */

import { listenToKeys, notify } from "../house/house.js";
import { answerHere, changeMode, goToRequest, showUndo } from "./answers.js";
import { Refused, access, ask } from "./api.js";
import { choose, idOf, leave, stop, turnTo } from "./chosen.js";
import { chooseModel } from "./choosing_model.js";
import "./composer.js";
import "./dialogs.js";
import "./head.js";
import { KEYS, LISTS } from "./keys.js";
import "./models.js";
import { narrow } from "./narrow.js";
import { drawSession, page, parts } from "./page.js";
import { chooseWorkspace, refresh, refreshNowAndThen, tried } from "./places.js";
import "./plan.js";
import "./policy.js";
import { showRules } from "./rules.js";
import "./search.js";
import { openSearch } from "./searching.js";
import "./sessions.js";
import "./transcript.js";
import "./undo.js";
import "./waiting.js";

const EACH = 3000;

const { composer, empty, entrance, folder, head, keys, main, plan, question, sidebar, transcript, waiting } = parts;

// --- in and out

entrance.addEventListener("token", ({ detail: token }) => {
  access.set(token);
  start();
});

async function start() {
  try {
    await refresh();
  } catch (error) {
    if (error instanceof Refused && (error.status === 401 || error.status === 429)) {
      if (access.tryOffered()) return start();
      shut(access.token ? error.message : "");
    } else {
      main.hidden = false;
      entrance.hidden = true;
      drawSession();
      empty.say("The agent does not answer.", `${error.message} It is asked again in a moment.`);
      setTimeout(start, EACH);
    }
    return;
  }
  access.set(access.token);
  refuseOffered();
  entrance.hidden = true;
  main.hidden = false;
  turnTo(idOf(location.hash));
}

page.addEventListener("refused", (/** @type {CustomEvent} */ { detail: sentence }) => shut(sentence));

/** The token that is kept is good, so that of the link is not needed. */
function refuseOffered() {
  if (!access.offered) return;
  access.offered = null;
  notify("The link held another token. The one that is kept here is good, and stays.");
}

for (const event of ["popstate", "hashchange"]) window.addEventListener(event, () => arrive());

/** The address has changed while the page is open: to another session, or by a link with a token. */
function arrive() {
  access.take();
  if (access.offered || main.hidden) start();
  else turnTo(idOf(location.hash));
}

function shut(sentence) {
  if (main.hidden && !entrance.hidden && !sentence) return;
  leave();
  unfold(false);
  for (const dialog of document.querySelectorAll("dialog[open]")) /** @type {HTMLDialogElement} */ (dialog).close();
  access.set("");
  main.hidden = true;
  entrance.hidden = false;
  entrance.refused(sentence);
}

setInterval(() => {
  if (!document.hidden && !main.hidden) refreshNowAndThen(); // the banner tells of a lost connection
}, EACH);

// --- the sessions

sidebar.addEventListener("workspace", ({ detail: { id } }) => {
  chooseWorkspace(id);
  choose(null);
  tried(refresh);
});
sidebar.addEventListener("register", () => folder.open());
sidebar.addEventListener("search", openSearch);
empty.addEventListener("action", () => tried(create));
folder.addEventListener("register", async ({ detail: { path } }) => {
  try {
    page.workspace = (await ask("POST", "workspaces/register", { path })).id;
    folder.close();
    choose(null);
    await refresh();
    focusEmpty();
  } catch (error) {
    folder.refused(error.message);
  }
});

sidebar.addEventListener("create", () => tried(create));

async function create() {
  if (!page.workspace) {
    folder.open();
    return;
  }
  const made = await ask("POST", "sessions", { workspace_id: page.workspace });
  await refresh();
  choose(made.id);
  unfold(false);
  composer.focus();
}

/** Whether nothing has the focus: what had it is gone. */
const isNowhere = () => document.activeElement === null || document.activeElement === document.body;

/** To what can be done where there is nothing yet. */
function focusEmpty() {
  const button = /** @type {HTMLElement | null} */ (empty.querySelector(".action:not([hidden])"));
  if (document.body.hasAttribute("data-sessions")) sidebar.focus();
  else button?.focus();
}

sidebar.addEventListener("choose", ({ detail: { id } }) => {
  choose(id);
  unfold(false);
});

sidebar.addEventListener("rename", async ({ detail: { session: { id, title } } }) => {
  const text = await question.ask({ title: "Name of the session", verb: "Rename", text: title ?? "" });
  if (typeof text === "string" && text) await tried(async () => {
    await ask("PATCH", `sessions/${encodeURIComponent(id)}`, { title: text });
    await refresh();
  });
});

/**
 * The answer may come before the list, or the session's own stream, tells that it has gone, or after. The list moves the
 * focus with its rows; here is one only if there was none to be moved.
 */
sidebar.addEventListener("delete", async ({ detail: { session: { id, title } } }) => {
  const place = sidebar.placeOf(id);
  const agreed = await question.ask({
    title: `Delete “${title || "New session"}”?`,
    sentence: "What was said in it is deleted for good, and what it changed can not be undone from here any more. A turn that runs is stopped.",
    verb: "Delete",
  });
  if (agreed) await tried(async () => {
    await ask("DELETE", `sessions/${encodeURIComponent(id)}`);
    if (page.session?.id === id) choose(null);
    await refresh();
  });
  if (agreed && isNowhere()) sidebar.focusAt(place);
});

// --- the keyboard, and what a narrow page hides

head.addEventListener("sessions", () => unfold(!document.body.hasAttribute("data-sessions")));
head.addEventListener("models", chooseModel);
head.addEventListener("rules", showRules);
head.addEventListener("help", () => keys.open(LISTS));
head.addEventListener("mode", ({ detail: { mode } }) => changeMode(mode));

function unfold(open) {
  if (open === document.body.hasAttribute("data-sessions")) return;
  document.body.toggleAttribute("data-sessions", open);
  head.open = open;
  for (const covered of [plan, transcript, empty, waiting, composer]) covered.inert = open;
  if (open) sidebar.focus();
  else if (sidebar.contains(document.activeElement)) head.focusSessions();
}

narrow.addEventListener("change", () => unfold(false));

const WISHES = {
  write: () => composer.focus(),
  stop: () => (document.body.hasAttribute("data-sessions") ? unfold(false) : stop()),
  request: () => goToRequest(1),
  back: () => goToRequest(-1),
  approve: () => answerHere("approve"),
  reject: () => answerHere("reject"),
  nextHunk: () => answerHere("nextHunk"),
  lastHunk: () => answerHere("lastHunk"),
  undo: () => showUndo(),
  sides: () => transcript.turnDiffs(),
  create: () => tried(create),
  next: () => sidebar.step(1),
  previous: () => sidebar.step(-1),
  models: chooseModel,
  rules: showRules,
  search: openSearch,
  end: () => transcript.toEnd(),
  help: () => keys.open(LISTS),
};
listenToKeys(KEYS, (wish) => WISHES[wish]());
start();
