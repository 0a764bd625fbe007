/**
 * The inbox: it collects messages from the socket and hands them on in order, many at a time.
 *
 * Rules
 *   - It hands messages on once a frame, however many come. A page that is not visible has no frames, so a timer
 *     replaces them there, and messages do not pile up.
 *   - One turn takes no longer than `TURN`, so the page stays usable in a flood. The rest waits for the next frame.
 * Only
 *     if too many messages are waiting are all of them handled in one turn, because memory is limited.
 */

const TURN = 12; // milliseconds
const LONGEST = 50_000;
const UNSEEN = 200; // milliseconds

export class Inbox {
  #waiting = [];
  #handle;
  #turn;
  /** @type {number | null} */
  #frame = null;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;

  /** Calls `handle(message)` for each message, and `turn()` after the last one of a turn. */
  constructor(handle, turn) {
    this.#handle = handle;
    this.#turn = turn;
  }

  add(message) {
    this.#waiting.push(message);
    this.wake();
  }

  /** Asks for one more turn. */
  wake() {
    if (this.#frame !== null) return;
    this.#frame = requestAnimationFrame(() => this.#run());
    this.#timer = setTimeout(() => this.#run(), UNSEEN);
  }

  #run() {
    if (this.#frame !== null) cancelAnimationFrame(this.#frame);
    clearTimeout(this.#timer);
    this.#frame = null;
    const messages = this.#waiting;
    const late = messages.length > LONGEST ? Infinity : performance.now() + TURN;
    let done = 0;
    while (done < messages.length) {
      this.#handle(messages[done]);
      done += 1;
      if (done % 64 === 0 && performance.now() > late) break;
    }
    this.#waiting = messages.slice(done);
    if (this.#waiting.length) this.wake();
    this.#turn();
  }
}
