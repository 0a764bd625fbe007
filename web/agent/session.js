/**
 * One session, as its stream tells of it.
 *
 *   the log: events with a `seq`, from the beginning      -> "event", in order, none twice
 *   how things are now (session.state, server.hello)      -> "state"
 *   an answer to this page alone (an error, a pong)       -> "told"
 *
 * After a lost connection it goes on where it was (`resume_from`). What the page says while there is no connection is
 * not sent; the page keeps it.
 */

import { LiveSocket } from "../house/house.js";
import { streamOf } from "./api.js";

const CAPABILITIES = ["token_delta", "diff_preview"];
/** The code with which the server closes the stream of a session that is not there. */
const NOT_FOUND = "SESSION_NOT_FOUND";

export class Session extends EventTarget {
  /** The number of the last event that was shown. */
  seq = 0;
  /** @type {Record<string, any> | null} */
  state = null;
  model = null;
  /** The number up to which the log is history: it was there before this connection was. */
  history = 0;
  socket;

  constructor(id) {
    super();
    this.id = id;
    this.socket = new LiveSocket(() => streamOf(id), { opening: () => this.#hello() });
    this.socket.addEventListener("message", (/** @type {CustomEvent} */ { detail }) => this.#hear(detail));
  }

  end() {
    this.socket.end();
  }

  /** Whether it was sent. */
  say(message) {
    return this.socket.send(message);
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
        this.#announce("state");
        return;
      case "server.pong":
        return;
    }
    if (message.seq === undefined) {
      if (message.error?.code === NOT_FOUND) this.end();
      this.#announce("told", message);
    } else if (message.seq > this.seq) {
      this.seq = message.seq;
      this.#announce("event", message);
    }
  }

  #announce(type, detail = null) {
    this.dispatchEvent(new CustomEvent(type, { detail }));
  }
}
