/**
 * The agent's page: workspaces, their sessions, and what is said and done in one of them.
 *
 *   HTTP (api.js)        workspaces, sessions, models; asked again while the page is looked at
 *   stream (session.js)  the chosen session's log, and how it is now -> transcript, plan, head, composer
 *
 * The chosen session stands in the address (#/ID), so that a reload, Back and a second window find it again.
 */

import { notify } from "../house/house.js";
import { Refused, access, ask } from "./api.js";
import "./composer.js";
import "./dialogs.js";
import "./head.js";
import { Heard } from "./heard.js";
import { listenToKeys } from "./keys.js";
import "./models.js";
import "./plan.js";
import { Session } from "./session.js";
import "./sessions.js";
import "./transcript.js";

const EACH = 3000;
const WORKSPACE = "troupe.agent.workspace";
const $ = (selector) => document.querySelector(selector);

const bar = $("house-bar");
const banner = $("house-banner");
const main = $("main");
const entrance = $("agent-access");
const sidebar = $("agent-sessions");
const head = $("agent-head");
const plan = $("agent-plan");
const transcript = $("agent-transcript");
const empty = $(".session > house-empty");
const composer = $("agent-composer");
const question = $("agent-question");
const folder = $("agent-folder");
const models = $("agent-models");
const heard = new Heard($("#heard"));

let workspaces = [];
let sessions = [];
let workspace = null;
/** The model of sessions that have none of their own. */
let usual = null;
/** Counts what was asked for, so that an answer that comes late is not shown. */
let asked = 0;
/** @type {Session | null} */
let session = null;
const usage = { used: 0, window: 0 };

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
  entrance.hidden = true;
  main.hidden = false;
  turnTo(idOf(location.hash));
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

// --- what there is

async function refresh() {
  const mine = (asked += 1);
  const [listed, current] = await Promise.all([ask("GET", "workspaces"), ask("GET", "models/current")]);
  const kept = workspace ?? remembered();
  const chosen = (listed.find(({ id }) => id === kept) ?? listed[0])?.id ?? null;
  const inside = chosen ? await ask("GET", `sessions?workspace_id=${encodeURIComponent(chosen)}`) : [];
  if (mine !== asked) return;
  [workspaces, workspace, sessions, usual] = [listed, chosen, inside, current];
  draw();
}

/** Quietly, and again later if it cannot be. The token may have changed: a server that lost its own makes a new one. */
function refreshLater() {
  refresh().catch((error) => {
    if (error instanceof Refused && error.status === 401) shut(error.message);
  });
}

function draw() {
  sidebar.showWorkspaces(workspaces, workspace);
  sidebar.show(sessions, session?.id ?? null);
  drawSession();
}

function remembered() {
  try {
    return localStorage.getItem(WORKSPACE);
  } catch {
    return null;
  }
}

/** What was asked for by the reader: a refusal is told, and nothing else happens. */
async function tried(work) {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Refused && error.status === 401) shut(error.message);
    else notify(error.message);
    return null;
  }
}

setInterval(() => {
  if (!document.hidden && !main.hidden) refreshLater(); // the banner tells of a lost connection
}, EACH);

sidebar.addEventListener("workspace", ({ detail: { id } }) => {
  workspace = id;
  try {
    localStorage.setItem(WORKSPACE, id);
  } catch {
    // kept for as long as the page is open
  }
  choose(null);
  tried(refresh);
});
sidebar.addEventListener("register", () => folder.open());
empty.addEventListener("action", () => tried(create));
folder.addEventListener("register", async ({ detail: { path } }) => {
  try {
    workspace = (await ask("POST", "workspaces/register", { path })).id;
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
  if (!workspace) {
    folder.open();
    return;
  }
  const made = await ask("POST", "sessions", { workspace_id: workspace });
  await refresh();
  choose(made.id);
  unfold(false);
  composer.focus();
}

/** To what can be done where there is nothing yet. */
function focusEmpty() {
  const button = /** @type {HTMLElement | null} */ (empty.querySelector(".action:not([hidden])"));
  if (document.body.hasAttribute("data-sessions")) sidebar.focus();
  else button?.focus();
}

sidebar.addEventListener("rename", async ({ detail: { session: { id, title } } }) => {
  const text = await question.ask({ title: "Name of the session", verb: "Rename", text: title ?? "" });
  if (typeof text === "string" && text) await tried(async () => {
    await ask("PATCH", `sessions/${encodeURIComponent(id)}`, { title: text });
    await refresh();
  });
});

sidebar.addEventListener("delete", async ({ detail: { session: { id, title } } }) => {
  const agreed = await question.ask({
    title: `Delete “${title || "New session"}”?`,
    sentence: "What was said in it is deleted for good. A turn that runs is stopped.",
    verb: "Delete",
  });
  if (agreed) await tried(async () => {
    await ask("DELETE", `sessions/${encodeURIComponent(id)}`);
    const place = sessions.findIndex((each) => each.id === id);
    if (session?.id === id) choose(null);
    await refresh();
    sidebar.focusAt(place);
  });
});

// --- the chosen session

function idOf(hash) {
  try {
    return hash.startsWith("#/") ? decodeURIComponent(hash.slice(2)) || null : null;
  } catch {
    return null;
  }
}

function choose(id) {
  const address = id === null ? location.pathname + location.search : `#/${encodeURIComponent(id)}`;
  if ((session?.id ?? null) !== id) history.pushState(null, "", address);
  turnTo(id);
}

for (const event of ["popstate", "hashchange"]) window.addEventListener(event, () => turnTo(idOf(location.hash)));
sidebar.addEventListener("choose", ({ detail: { id } }) => {
  choose(id);
  unfold(false);
});

function leave() {
  session?.end();
  session = null;
  banner.socket = null;
}

function turnTo(id) {
  if (main.hidden || (session && session.id === id)) return;
  leave();
  transcript.clear();
  heard.silence();
  plan.show(null);
  usage.used = usage.window = 0;
  composer.session = id;
  if (id !== null) attach(new Session(id));
  else bar.connection = "live";
  draw();
  if (id !== null && !sessions.some((each) => each.id === id)) find(id);
}

/** A link may lead to a session of another folder. Of one that does not exist its stream tells. */
async function find(id) {
  const fact = await ask("GET", `sessions/${encodeURIComponent(id)}`).catch(() => null);
  if (!fact || session?.id !== id || fact.workspace_id === workspace) return;
  workspace = fact.workspace_id;
  refreshLater();
}

function attach(made) {
  session = made;
  const mine = (act) => ({ detail }) => {
    if (session === made) act(detail);
  };
  banner.socket = made.socket;
  made.socket.addEventListener("state", mine(() => {
    bar.connection = made.socket.state;
    if (made.socket.state === "waiting") refreshLater(); // a token that is not good any more is no lost connection
  }));
  bar.connection = made.socket.state;
  made.addEventListener("event", mine((event) => {
    transcript.show(event);
    if (event.type === "assistant.message_final") plan.end(event.metadata.success);
    if (event.seq > made.history) {
      heard.tell(event);
      if (event.type === "assistant.message_final" || event.type === "user.message") refreshLater();
    }
    if (!empty.hidden) drawSession();
  }));
  made.addEventListener("state", mine(drawSession));
  made.addEventListener("told", mine(({ error }) => {
    if (error?.code === "SESSION_NOT_FOUND") {
      notify("There is no such session any more.");
      choose(null);
      refreshLater();
    } else if (error) {
      notify(error.message);
    }
  }));
}

transcript.addEventListener("plan", ({ detail }) => {
  plan.show(detail);
  if (detail) plan.at(detail.current_step ?? 0);
});
transcript.addEventListener("usage", ({ detail }) => {
  usage.used = detail.used;
  usage.window = detail.window;
  drawSession();
});

function drawSession() {
  const state = session?.state;
  const fact = sessions.find(({ id }) => id === session?.id);
  head.show({
    title: state?.title || fact?.title || (session ? "New session" : "Agent"),
    model: (fact && !fact.model_provider ? usual : null) ?? state?.model ?? session?.model ?? usual,
    used: usage.used || (state?.context_used ?? 0),
    window: usage.window || (state?.context_window ?? 0),
    clients: state?.clients ?? 0,
  });
  composer.hidden = !session;
  composer.show({ running: state?.running ?? false, queued: state?.queued ?? [], trouble: state?.trouble ?? null });
  plan.at(state?.current_step ?? 0);
  empty.hidden = Boolean(session) && !transcript.isEmpty;
  transcript.hidden = !empty.hidden;
  document.title = `${state?.running ? "… " : ""}${state?.title || fact?.title || "Agent"} · Troupe`;
  if (empty.hidden) return;
  if (!workspaces.length) empty.say("Add a folder to begin.", "The agent answers questions about the files in it.", "Choose a folder…");
  else if (!session) empty.say(sessions.length ? "Choose a session, or begin a new one." : "Begin a session.", "A session is a talk about the files of a folder. It stays until you delete it.", "Begin a session");
  else if (session.history) empty.say("Reading what was said…");
  else empty.say("Ask about this folder.", "Such as: where is the configuration read? Or /explain @src/main.py");
}

composer.addEventListener("say", ({ detail }) => {
  if (send(detail)) composer.sent();
});
transcript.addEventListener("again", ({ detail }) => send({ ...detail, delivery: "queue" }));

/** Whether it was sent. */
function send(said) {
  if (!session) return false;
  const id = crypto.randomUUID ? crypto.randomUUID() : `${Date.now()}-${Math.random()}`;
  const sent = session.say({ type: "client.user_message", message_id: id, ...said });
  if (sent) transcript.toEnd();
  else notify("There is no connection now. What you wrote stays here.");
  return sent;
}

composer.addEventListener("stop", stop);
composer.addEventListener("withdraw", ({ detail: { id } }) => {
  const queued = session?.state?.queued.find((each) => each.message_id === id);
  if (session?.say({ type: "client.withdraw", message_id: id }) && queued) composer.giveBack(queued.message);
});

function stop() {
  if (session?.state?.running) session.say({ type: "client.cancel", reason: "user_cancelled" });
}

// --- models

head.addEventListener("models", chooseModel);

async function chooseModel() {
  models.open(Boolean(session));
  try {
    const [listed, current, fact] = await Promise.all([ask("GET", "models"), ask("GET", "models/current"), ownFact()]);
    usual = current;
    models.show(listed, usual, fact?.model_provider ? { ...fact, provider: fact.model_provider, url: fact.model_url } : null);
  } catch (error) {
    models.refused(error.message);
  }
}

async function ownFact() {
  return session ? ask("GET", `sessions/${encodeURIComponent(session.id)}`) : null;
}

models.addEventListener("model", ({ detail: { model, here } }) => modelled(async () => {
  const name = model.display_name || model.id;
  const parts = { model_name: model.id, context_window: model.context_window ?? undefined };
  if (here && session) {
    await changeOwn({ ...parts, context_window: model.context_window ?? null, model_provider: model.provider, model_url: model.url });
    return `From the next message on, this session asks ${name}.`;
  }
  const own = (await ownFact())?.model_provider;
  usual = await ask("PUT", "models/current", { ...parts, provider: model.provider, url: model.url });
  return `From the next message on: ${name}.${own ? " This session keeps its own model." : ""}`;
}));
models.addEventListener("usual", () => modelled(async () => {
  await changeOwn({ model_provider: null, model_name: null, model_url: null, context_window: null });
  return `This session asks the usual model again${usual ? `: ${usual.model_name}` : ""}.`;
}));

async function changeOwn(change) {
  if (session) await ask("PATCH", `sessions/${encodeURIComponent(session.id)}`, change);
}

async function modelled(work) {
  try {
    const sentence = await work();
    models.close();
    notify(sentence);
    await refresh();
  } catch (error) {
    models.refused(error.message);
  }
}

// --- the keyboard, and what a narrow page hides

head.addEventListener("sessions", () => unfold(!document.body.hasAttribute("data-sessions")));

function unfold(open) {
  if (open === document.body.hasAttribute("data-sessions")) return;
  document.body.toggleAttribute("data-sessions", open);
  head.open = open;
  for (const covered of [plan, transcript, empty, composer]) covered.inert = open;
  if (open) sidebar.focus();
  else if (sidebar.contains(document.activeElement)) head.focusSessions();
}

matchMedia("(max-width: 48rem)").addEventListener("change", () => unfold(false));

const WISHES = {
  write: () => composer.focus(),
  stop: () => (document.body.hasAttribute("data-sessions") ? unfold(false) : stop()),
  create: () => tried(create),
  next: () => sidebar.step(1),
  previous: () => sidebar.step(-1),
  models: chooseModel,
  end: () => transcript.toEnd(),
  help: () => $("agent-keys").open(),
};
listenToKeys((wish) => WISHES[wish]());
head.addEventListener("help", () => $("agent-keys").open());
start();
