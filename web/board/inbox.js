/**
 * The inbox: messages as they come from the socket, handed on in order, many at a time.
 *
 * Rules
 *   - Once a frame, and no more often, however many messages come. In a page that is not seen there are no frames, so a
 *     timer stands in for them and nothing piles up.
 *   - One turn takes no longer than `TURN`, so that the page stays usable in a flood; what is left is next frame's.
 *     Only a backlog that has grown too long for that is taken in one go, because memory has an end.
 */

const TURN = 12; // milliseconds
const LONGEST = 50_000;
const UNSEEN = 200; // milliseconds

export class Inbox {
  #waiting = [];
  #handle;
  #turn;
  #frame = null;
  #timer = null;

  /** `handle(message)` for each message, then `turn()`. */
  constructor(handle, turn) {
    this.#handle = handle;
    this.#turn = turn;
  }

  add(message) {
    this.#waiting.push(message);
    this.wake();
  }

  /** Asks for one turn more. */
  wake() {
    if (this.#frame !== null) return;
    this.#frame = requestAnimationFrame(() => this.#run());
    this.#timer = setTimeout(() => this.#run(), UNSEEN);
  }

  #run() {
    cancelAnimationFrame(this.#frame);
    clearTimeout(this.#timer);
    this.#frame = this.#timer = null;
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
