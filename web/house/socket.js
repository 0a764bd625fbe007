/**
 * A WebSocket that never gives up.
 *
 *   connecting --first message--> live --close or silence--> waiting --time is up--> connecting
 *
 * Rules
 *   - A connection counts as live when the first message has come, and only that resets the wait. So a server that
 *     accepts and closes at once is not flooded with attempts.
 *   - Waits double from 0.25 s to 15 s, each randomly shortened by up to half, so that many pages do not return at the
 *     same time.
 *   - The server sends at least one message in `silence` seconds. If it does not, the connection counts as lost (a
 *     half-open connection closes by itself only after minutes).
 *   - If the page sends the first message (`opening` returns it, or several), the connection counts as live when that
 *     is sent, and the server may be silent for any time. Whether it would answer is asked apart (pulse.js): a connection
 *     whose server does not is kept, and so is what was said on it.
 *   - The address may be a function that promises one: it is asked for each attempt, for a ticket that is good once. If
 *     it fails, the attempt has failed.
 *   - A wait ends at once when the user returns to the page, when the network is back, or with `retry()`.
 *
 * Events: "state", and "message" with the decoded JSON in `detail`. The page has to understand the first message after
 * a reconnection; for the console this is the next Hello.
 */

import { Pulse } from "./pulse.js";

const FIRST_WAIT = 0.25;
const LONGEST_WAIT = 15;
const CONNECT_LIMIT = 10;

/** The WebSocket address of `path` beside this page. It also works behind a proxy. */
export function beside(path) {
  const url = new URL(path, document.baseURI);
  url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
  return url.href;
}

export class LiveSocket extends EventTarget {
  state = "connecting";
  silence = 20;
  /** Wall-clock milliseconds: when the connection was lost, and when it is tried again. */
  /** @type {number | null} */
  lostAt = null;
  /** @type {number | null} */
  retryAt = null;
  /** The reason that the server gave when it closed the connection, if any. */
  reason = "";

  #address;
  #opening;
  #pulse = new Pulse(() => this.dispatchEvent(new Event("state")));
  /** @type {WebSocket | null} */
  #socket = null;
  #life = new AbortController();
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;
  #failures = 0;
  /**
   * The attempt whose address is awaited.
   *
   * @type {object | null}
   */
  #attempt = null;

  /**
   * @param {string | (() => Promise<string>)} address
   * @param {{opening?: (() => object | object[]) | null}} options
   */
  constructor(address, { opening = null } = {}) {
    super();
    this.#address = address;
    this.#opening = opening;
    if (opening) this.silence = Infinity;
    const { signal } = this.#life;
    window.addEventListener("online", () => this.retry(), { signal });
    document.addEventListener("visibilitychange", () => document.hidden || this.retry(), { signal });
    this.#connect();
  }

  /** The state, in more detail for whoever reads it: "silent", if it is live and the server does not answer. */
  get condition() {
    return this.silentSince === null ? this.state : "silent";
  }

  /** Wall-clock milliseconds: since when the server has not answered, though the connection is live. */
  get silentSince() {
    return this.#pulse.silentSince;
  }

  /** Connects now, if the socket is waiting. */
  retry() {
    if (this.state === "waiting") this.#connect();
  }

  /** Sends a message; false if there is no connection. */
  /** @param {object} message */
  send(message) {
    if (!this.#socket || this.state !== "live") return false;
    this.#socket.send(JSON.stringify(message));
    this.#pulse.said();
    return true;
  }

  /** Closes the connection for good. Nothing is announced any more. */
  end() {
    this.#life.abort();
    clearTimeout(this.#timer);
    this.#drop();
  }

  async #connect() {
    this.retryAt = null;
    this.#enter("connecting");
    if (typeof this.#address === "string") {
      this.#begin(this.#address);
      return;
    }
    this.#expectWithin(CONNECT_LIMIT);
    const waiting = (this.#attempt = {});
    try {
      const address = await this.#address();
      if (this.#attempt === waiting) this.#begin(address);
    } catch (error) {
      if (this.#attempt === waiting) this.#lose(error instanceof Error ? error.message : "");
    }
  }

  #begin(address) {
    const socket = new WebSocket(address);
    this.#socket = socket;
    socket.onopen = () => this.#open();
    socket.onmessage = ({ data }) => this.#hear(data);
    socket.onclose = ({ reason }) => this.#lose(reason);
    this.#expectWithin(CONNECT_LIMIT);
  }

  #open() {
    if (!this.#opening) return;
    this.#enter("live");
    this.#pulse.begin();
    for (const message of [this.#opening()].flat()) this.send(message);
    this.#expectWithin(this.silence);
  }

  #hear(data) {
    let message;
    try {
      message = JSON.parse(data);
    } catch {
      this.#lose("The server sent something that is not JSON.");
      return;
    }
    this.#failures = 0;
    this.reason = "";
    this.#enter("live");
    this.#pulse.heard();
    this.dispatchEvent(new CustomEvent("message", { detail: message }));
    this.#expectWithin(this.silence);
  }

  #expectWithin(seconds) {
    clearTimeout(this.#timer);
    if (seconds === Infinity) return;
    this.#timer = setTimeout(() => this.#lose("The server fell silent."), seconds * 1000);
  }

  #drop() {
    const socket = this.#socket;
    this.#socket = null;
    this.#attempt = null;
    this.#pulse.end();
    if (!socket) return;
    socket.onopen = socket.onmessage = socket.onclose = null;
    socket.close();
  }

  #lose(reason) {
    this.#drop();
    if (this.state === "live") this.lostAt = Date.now();
    if (reason) this.reason = reason;
    const longest = Math.min(LONGEST_WAIT, FIRST_WAIT * 2 ** this.#failures);
    const wait = longest * (0.5 + Math.random() / 2) * 1000;
    this.#failures += 1;
    this.retryAt = Date.now() + wait;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#connect(), wait);
    this.#enter("waiting");
  }

  #enter(state) {
    if (this.state === state && state === "live") return;
    this.state = state;
    this.dispatchEvent(new Event("state"));
  }
}
