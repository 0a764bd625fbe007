/**
 * Whether a server whose connection is open answers. A process that was stopped, or that hangs, keeps its connections; and
 * a browser neither sends pings for a page nor tells it of the server's. So a page that has heard nothing for a while asks
 * for a small file of the house, by HTTP.
 *
 * Rules
 *   - What comes over the connection is an answer, too. So nobody asks while there is something to hear.
 *   - Who has said something and hears nothing for `SOON` asks. An idle page asks every `EACH` seconds, and only while
 *     it can be seen: a thousand pages in the background cost the server nothing.
 *   - A server that takes longer than `PATIENCE` for its answer is silent, until it answers. The request stays: a server
 *     that goes on answers it at once.
 */

const SOON = 1;
const EACH = 12;
const PATIENCE = 4;
/** Seconds. By then the request is lost, as when the machine has slept. */
const LONGEST = 30;
const FILE = new URL("mark.svg", import.meta.url);

export class Pulse {
  /** Wall-clock milliseconds: since when the server owes an answer. Null: it is not late with any. */
  /** @type {number | null} */
  silentSince = null;

  #changed;
  #heardAt = 0;
  /** When something was said after which nothing was heard. */
  #saidAt = Infinity;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;
  /** @type {AbortController | null} */
  #asking = null;
  #life = new AbortController();

  /** `changed()` is called when the server has become silent, and when it is not any more. */
  constructor(changed) {
    this.#changed = changed;
  }

  /** The connection is open. */
  begin() {
    this.end();
    this.#life = new AbortController();
    this.#heardAt = performance.now();
    document.addEventListener("visibilitychange", () => this.#look(), { signal: this.#life.signal });
    this.#look();
  }

  /** The connection is closed, and nothing is announced any more. */
  end() {
    this.#life.abort();
    this.#asking?.abort();
    clearTimeout(this.#timer);
    this.#asking = this.silentSince = null;
    this.#saidAt = Infinity;
  }

  /** Something was heard. */
  heard() {
    this.#heardAt = performance.now();
    this.#saidAt = Infinity;
    this.#asking?.abort();
    this.#be(null);
  }

  /** Something was said. */
  said() {
    if (this.#saidAt !== Infinity || this.#life.signal.aborted) return;
    this.#saidAt = performance.now();
    this.#look();
  }

  /** Asks, if it is time, or looks again when it is. */
  #look() {
    clearTimeout(this.#timer);
    if (document.hidden || this.#asking) return;
    const due = Math.min(this.#heardAt + EACH * 1000, this.#saidAt + SOON * 1000);
    const wait = due - performance.now();
    if (wait > 0) this.#timer = setTimeout(() => this.#look(), wait);
    else this.#ask();
  }

  async #ask() {
    const asking = (this.#asking = new AbortController());
    const asked = performance.now();
    const since = this.silentSince ?? Date.now();
    const late = setTimeout(() => this.#be(since), PATIENCE * 1000);
    const lost = setTimeout(() => asking.abort(), LONGEST * 1000);
    const answered = await fetch(FILE, { method: "HEAD", cache: "no-store", signal: asking.signal }).catch(() => null);
    clearTimeout(late);
    clearTimeout(lost);
    if (this.#asking !== asking) return; // the connection is closed
    this.#asking = null;
    if (answered) this.heard();
    else if (this.#heardAt < asked) this.#be(since);
    this.#timer = setTimeout(() => this.#look(), SOON * 1000);
  }

  /** @param {number | null} since */
  #be(since) {
    if (this.silentSince === since) return;
    this.silentSince = since;
    this.#changed();
  }
}
