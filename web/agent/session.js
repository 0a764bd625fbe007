/**
 * One session, as its stream tells of it.
 *
 *   the log: events with a `seq`, from the beginning      -> "event", in order, none twice
 *   what the agent asks (requests.js)                     -> `requests`, before the event that asks
 *   how things are now (session.state, server.hello)      -> "state"
 *   what of the user's words is not confirmed, or may not have arrived     -> "doubt"
 *   an answer to this page alone (an error, a pong)       -> "told"
 *
 * After a lost connection it goes on where it was (`resume_from`). What the page says while there is no connection is
 * not sent; the page keeps it. What the user said on a connection that was lost before the server has shown it is said
 * again on the next one, with the same id, as soon as all is heard that the server knows of it; and after it what the user
 * has said meanwhile. Until then it is `doubtful`, and can be taken back. So is what the page before this one has left
 * unconfirmed (kept.js).
 *
 * The page cannot write files or open a terminal, so it does not say that it can: what it approves is done by the server.
 */

import { LiveSocket } from "../house/house.js";
import { streamOf } from "./api.js";
import { Requests } from "./requests.js";

const CAPABILITIES = ["token_delta"];
/** The code with which the server closes the stream of a session that is not there. */
const NOT_FOUND = "SESSION_NOT_FOUND";

const SOON = 150; // ms: what takes longer is shown as not confirmed. A server that is well answers before anybody sees it
const LATE = 10_000;

export class Session extends EventTarget {
  /** The number of the last event that was shown. */
  seq = 0;
  /** @type {Record<string, any> | null} */
  state = null;
  model = null;
  /** The last number of the log when `state` was told. */
  #stateAt = 0;
  /** The number up to which the log is history: it was there before this connection was. */
  history = 0;
  requests = new Requests();
  socket;
  /**
   * What the user has said and the server has not shown yet, by its id; and when that was.
   *
   * @type {Map<string, {said: any, at: number, isStale?: boolean}>}
   */
  #unshown = new Map();
  /** Whether it has to be said, or said again, as soon as all is heard that the server knows of it. */
  #owed = false;

  /** @param {string} id @param {{said: any, isStale: boolean}[]} left  by the page before this one */
  constructor(id, left = []) {
    super();
    this.id = id;
    for (const { said, isStale } of left) this.#unshown.set(said.message_id, { said, at: -Infinity, isStale });
    this.#owed = left.length > 0;
    this.socket = new LiveSocket(() => streamOf(id), { opening: () => this.#hello() });
    this.socket.addEventListener("message", (/** @type {CustomEvent} */ { detail }) => this.#hear(detail));
    this.socket.addEventListener("state", () => {
      if (this.socket.state !== "waiting") return;
      this.requests.unsent();
      this.#owed = true;
      this.#announce("doubt");
    });
  }

  end() {
    this.socket.end();
  }

  /** Whether the first connection is still being made. */
  get isComing() {
    return this.model === null && this.state === null && this.socket.state !== "waiting";
  }

  /** Whether it was sent, or is sent without anything more to be done. */
  say(message) {
    if (message.type !== "client.user_message") return this.socket.send(message);
    const sent = this.owes || this.socket.send(message); // nothing overtakes what was said before
    if (sent) {
      this.#unshown.set(message.message_id, { said: message, at: performance.now() });
      for (const ms of [SOON, LATE]) setTimeout(() => this.#unshown.has(message.message_id) && this.#announce("doubt"), ms + 50);
      if (this.#owed) this.#announce("doubt");
    }
    return sent;
  }

  /** Whether there is a connection, and what was said before it has not been said again yet. */
  get owes() {
    return this.#owed && this.socket.state === "live";
  }

  /**
   * What is said, or said again, as soon as all is heard that the server knows of it; and what a server has not shown for
   * long, though the connection seems to live.
   */
  get doubtful() {
    return this.#unheard(LATE);
  }

  /** @param {number} ms  for how long the server has not shown it */
  #unheard(ms) {
    const early = performance.now() - ms;
    return [...this.#unshown.values()].filter(({ at }) => this.#owed || at <= early).map(({ said }) => said);
  }

  /** What was said a moment ago, and the server has not confirmed. */
  get unconfirmed() {
    const doubtful = new Set(this.doubtful);
    return this.#unheard(SOON).filter((said) => !doubtful.has(said));
  }

  /** All that the server has not shown yet. */
  get unshown() {
    return [...this.#unshown.values()].map(({ said }) => said);
  }

  /** Whether there may be something to stop: the page may not have been told yet of what it has just begun. */
  get mayRun() {
    const { state } = this;
    return !state || state.running || state.queued?.length > 0 || this.#unshown.size > 0 || this.requests.waiting.length > 0;
  }

  /**
   * What is doubtful, as the user has written it: it is not said again.
   *
   * @param {string | null} id Of one; null: all.
   */
  takeBack(id = null) {
    const taken = this.doubtful.filter(({ message_id: each }) => id === null || each === id);
    for (const each of taken) this.#unshown.delete(each.message_id);
    if (taken.length) this.#announce("doubt");
    return taken.map(({ message }) => message).join("\n\n");
  }

  #hello() {
    return {
      type: "client.hello",
      client_info: { name: "web", version: "1", capabilities: CAPABILITIES },
      resume_from: this.seq,
    };
  }

  #hear(message) {
    switch (message.type) {
      case "server.hello":
        this.model = message.server_info.model;
        this.history = message.last_seq;
        this.#announce("state");
        return;
      case "session.state":
        this.state = message.state;
        for (const { message_id: id } of this.state?.queued ?? []) this.#unshown.delete(id);
        this.#stateAt = message.last_seq;
        this.#compare();
        this.#announce("state");
        return;
      case "server.pong":
        return;
    }
    if (message.seq === undefined) {
      if (message.error?.code === NOT_FOUND) {
        this.end();
        this.#unshown.clear();
      } else if (message.error) this.requests.unsent(); // it may be an answer that was not taken
      this.#refused(message.error?.details?.message_id);
      this.#announce("told", message);
    } else if (message.seq > this.seq) {
      this.seq = message.seq;
      if (message.type === "user.message" && this.#unshown.delete(message.message_id)) this.#announce("doubt");
      this.requests.hear(message, message.seq > this.history);
      this.#compare();
      this.#announce("event", message);
    }
  }

  /** What waits by the log, and not by the state, waits no more; as soon as the log has been heard so far. */
  #compare() {
    if (!this.state || this.seq < this.#stateAt) return;
    this.requests.compare(this.state, this.#stateAt);
    if (!this.owes) return;
    this.#owed = false;
    for (const { said, isStale } of [...this.#unshown.values()]) {
      if (isStale) this.#refused(said.message_id); // it can be written anew
      else this.socket.send(said);
    }
    this.#announce("doubt");
  }

  /** @param {string | undefined} id */
  #refused(id) {
    const said = id === undefined ? undefined : this.#unshown.get(id)?.said;
    if (said === undefined) return;
    this.#unshown.delete(said.message_id);
    this.#announce("refused", said);
  }

  #announce(type, detail = null) {
    this.dispatchEvent(new CustomEvent(type, { detail }));
  }
}
