/**
 * The shown problem in the page's address, as `#contest/task`: it can be reloaded, kept, sent to a second tab, and Back
 * and Forward lead from problem to problem.
 *
 * Rules
 *   - What is shown next, by whomever it was opened, is another entry of the history. What answers a page that has just
 *     (re)connected takes the place of what stood there.
 *   - Who goes to an address is shown its problem. Until that has come, the address is not touched: an answer to an
 *     earlier step would cut off the steps that were taken since.
 */

const LONGEST = 400; // characters of an id that the server takes

export const addressOf = (id) => `#${id.split("/").map(encodeURIComponent).join("/")}`;

export class Address {
  #settled = false; // whether this connection has shown anything
  #awaited = null;

  /** `go(id)` is called when a person has gone to another problem's address. */
  constructor(go) {
    window.addEventListener("hashchange", () => {
      this.#awaited = this.id;
      if (this.id !== null) go(this.id);
    });
  }

  /** The problem that the address speaks of; null if of none. */
  get id() {
    try {
      const id = decodeURIComponent(location.hash.slice(1));
      return id && id.length <= LONGEST ? id : null;
    } catch {
      return null; // not written by us
    }
  }

  /** Another connection begins; its first answer is for the address that stands there now. */
  begin() {
    this.#settled = false;
    this.#awaited = null;
  }

  /** The problem is shown. */
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

  /** What a person went to does not come; this is shown still. */
  restore(id) {
    if (this.#awaited === null) return;
    this.#awaited = null;
    history.replaceState(null, "", id === null ? location.pathname + location.search : addressOf(id));
  }
}
