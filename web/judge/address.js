/**
 * The shown problem in the page's address, as `#contest/task`. So the page can be reloaded, bookmarked or opened in a
 * second tab, and Back and Forward lead from problem to problem.
 *
 * Rules
 *   - Each problem that is shown becomes a new entry of the history, no matter how it was opened. But the first problem
 *     after a (re)connection replaces the current entry.
 *   - If the user goes to an address, its problem is requested. Until it has come, the address is not changed: an
 * answer
 *     to an earlier step would cut off the steps that the user has taken since.
 */

const LONGEST = 400; // characters of an id that the server accepts

export const addressOf = (id) => `#${id.split("/").map(encodeURIComponent).join("/")}`;

export class Address {
  #settled = false; // whether a problem was shown on this connection
  /** @type {string | null} */
  #awaited = null;

  /** `go(id)` is called when the user has gone to another problem's address. */
  constructor(go) {
    window.addEventListener("hashchange", () => {
      this.#awaited = this.id;
      if (this.id !== null) go(this.id);
    });
  }

  /** The id of the problem in the address; null if there is none. */
  get id() {
    try {
      const id = decodeURIComponent(location.hash.slice(1));
      return id && id.length <= LONGEST ? id : null;
    } catch {
      return null; // this page has not written it
    }
  }

  /** A new connection begins. Its first answer is for the current address. */
  begin() {
    this.#settled = false;
    this.#awaited = null;
  }

  /** This problem is shown now. */
  show(id) {
    if (this.#awaited !== null && this.#awaited !== id) return;
    this.#awaited = null;
    if (id !== this.id) history[this.#settled ? "pushState" : "replaceState"](null, "", addressOf(id));
    this.#settled = true;
  }

  /** No problem is shown any more. */
  leave() {
    if (this.#awaited === null && this.id !== null) history.replaceState(null, "", location.pathname + location.search);
  }

  /** The problem that the user went to does not come: this one is still shown. */
  restore(id) {
    if (this.#awaited === null) return;
    this.#awaited = null;
    history.replaceState(null, "", id === null ? location.pathname + location.search : addressOf(id));
  }
}
