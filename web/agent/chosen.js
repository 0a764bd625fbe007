/**
 * The session that one is in. It stands in the address (#/ID), so that a reload, Back and a second window find it again.
 * Its stream tells what is drawn: the log to the transcript, how it is now to everything around.
 */

import { Pulse, notify } from "../house/house.js";
import { ask } from "./api.js";
import "./composer.js"; // it is given its drafts here
import { Heard } from "./heard.js";
import { drafts, handOn, keepWritten, reasons, takeOver } from "./kept.js";
import { draw, drawSession, page, parts } from "./page.js";
import { refreshLater } from "./places.js";
import { Session } from "./session.js";

const { banner, bar, composer, empty, main, plan, transcript } = parts;
const heard = new Heard(parts.heard);
/** For as long as no session is chosen, and there is no connection. */
const pulse = new Pulse(() => (bar.connection = pulse.silentSince === null ? "live" : "silent"));

composer.drafts = drafts();
const begun = reasons();
addEventListener("pagehide", () => {
  handOnAll();
  keepWritten(composer.drafts, begun);
});
addEventListener("pageshow", ({ persisted }) => {
  if (persisted && page.session) takeOver(page.session.id); // it was not left after all
});

/** What is begun in the session that is left, and what may not have arrived. */
function handOnAll() {
  const { session } = page;
  if (!session) return;
  begun[session.id] = transcript.reasons;
  if (session.unshown.length) handOn(session.id, session.unshown);
}

export function idOf(hash) {
  try {
    return hash.startsWith("#/") ? decodeURIComponent(hash.slice(2)) || null : null;
  } catch {
    return null;
  }
}

export function choose(id) {
  const address = id === null ? location.pathname + location.search : `#/${encodeURIComponent(id)}`;
  if ((page.session?.id ?? null) !== id) history.pushState(null, "", address);
  turnTo(id);
}

export function leave() {
  handOnAll();
  page.session?.end();
  page.session = null;
  pulse.end();
  banner.socket = null;
}

export function turnTo(id) {
  if (main.hidden || (page.session && page.session.id === id)) return;
  leave();
  transcript.clear();
  heard.silence();
  plan.show(null);
  page.usage.used = page.usage.window = 0;
  composer.session = id;
  if (id !== null) attach(new Session(id, takeOver(id)));
  else {
    bar.connection = "live";
    pulse.begin();
  }
  draw();
  if (id !== null && !page.sessions.some((each) => each.id === id)) find(id);
}

/** A link may lead to a session of another folder. Of one that does not exist its stream tells. */
async function find(id) {
  const fact = await ask("GET", `sessions/${encodeURIComponent(id)}`).catch(() => null);
  if (!fact || page.session?.id !== id || fact.workspace_id === page.workspace) return;
  page.workspace = fact.workspace_id;
  refreshLater();
}

/** @param {Session} made */
function attach(made) {
  page.session = made;
  transcript.session = made;
  transcript.reasons = begun[made.id] ?? {};
  const mine = (act) => (/** @type {any} */ { detail }) => {
    if (page.session === made) act(detail);
  };
  banner.socket = made.socket;
  made.socket.addEventListener("state", mine(() => {
    bar.connection = made.socket.condition;
    if (made.socket.state !== "waiting") return;
    refreshLater(); // a token that is not good any more is no lost connection
    plan.unsent();
  }));
  bar.connection = made.socket.condition;
  made.addEventListener("event", mine((event) => hear(made, event)));
  made.addEventListener("state", mine(() => {
    drawSession();
    sayNow(made);
  }));
  made.requests.addEventListener("change", mine(drawSession));
  made.addEventListener("doubt", mine(drawSession));
  made.addEventListener("refused", mine(({ message }) => composer.giveBack(message)));
  made.addEventListener("told", mine(({ error }) => {
    if (error?.code === "SESSION_NOT_FOUND") {
      notify("There is no such session any more.");
      choose(null);
      refreshLater();
    } else if (error) {
      notify(error.message);
      plan.unsent();
    }
  }));
}

function hear(made, event) {
  transcript.show(event);
  if (event.type === "assistant.message_final") plan.end(event.metadata.success);
  if (event.seq > made.history) {
    heard.tell(event);
    if (CHANGES_THE_LIST.has(event.type)) refreshLater();
  }
  if (!empty.hidden) drawSession();
}

const CHANGES_THE_LIST = new Set(["assistant.message_final", "user.message", "approval.resolved", "patch.proposed",
  "command.request_approval", "tool.request_approval"]);

transcript.addEventListener("plan", ({ detail }) => {
  plan.show(detail);
  if (detail) plan.at(detail.current_step ?? 0);
});
transcript.addEventListener("usage", ({ detail }) => {
  page.usage.used = detail.used;
  page.usage.window = detail.window;
  drawSession();
});

// --- what is said in it

export const newId = () => (crypto.randomUUID ? crypto.randomUUID() : `${Date.now()}-${Math.random()}`);

/** Whether it was sent. */
export function say(message) {
  if (!page.session) return false;
  const sent = page.session.say(message);
  if (!sent) notify("There is no connection now. Nothing was sent.");
  return sent;
}

composer.addEventListener("say", ({ detail }) => {
  if (send(detail)) composer.sent();
});
transcript.addEventListener("again", ({ detail }) => send({ ...detail, delivery: "queue" }));

/**
 * What was said before the first connection was there: who is quick has written a message by then. It stays in the field
 * until it can be sent.
 *
 * @type {{session: Session, said: any} | null}
 */
let early = null;

/** Whether it was sent. */
function send(said) {
  if (!page.session) return false;
  const sent = page.session.say({ type: "client.user_message", message_id: newId(), ...said });
  if (sent) transcript.toEnd();
  else if (page.session.isComing) early = { session: page.session, said };
  else notify("There is no connection now. What you wrote stays here.");
  return sent;
}

/** What was said before there was a connection, unless it was written on meanwhile. @param {Session} made */
function sayNow(made) {
  if (early?.session !== made) return;
  const { said } = early;
  early = null;
  if (composer.holds(said.message) && send(said)) composer.sent();
}

composer.addEventListener("stop", stop);
composer.addEventListener("withdraw", ({ detail: { id } }) => {
  const { session } = page;
  const unsaid = session?.takeBack(id);
  const queued = session?.state?.queued.find((each) => each.message_id === id);
  if (unsaid) composer.giveBack(unsaid);
  else if (say({ type: "client.withdraw", message_id: id }) && queued) composer.giveBack(queued.message);
});

/** What runs, or may have begun a moment ago. What would be said again is taken back. */
export function stop() {
  const { session } = page;
  if (!session) return;
  const sent = session.mayRun && session.say({ type: "client.cancel", reason: "user_cancelled" });
  if (!sent || session.owes) composer.giveBack(session.takeBack());
}
