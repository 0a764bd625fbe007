/**
 * The shown problem in the page's address, as `#contest/task`. So the page can be reloaded, bookmarked or opened in a
 * second tab, and Back and Forward lead from problem to problem.
 *
 * Rules
 *   - Each problem that is shown becomes a new entry of the history, no matter how it was opened. But the first problem
 *     after a (re)connection replaces the current entry.
 *   - If the user goes to an address, its problem is requested, once. Until it has come, the address is not changed: an
 *     answer to an earlier step would cut off the steps that the user has taken since.
 *   - The browser tells of a step only after it has taken it. What comes between is an answer to an earlier one.
 */

const LONGEST = 400; // characters of an id that the server accepts

export const addressOf = (id) => `#${id.split("/").map(encodeURIComponent).join("/")}`;

export class Address {
  #settled = false; // whether a problem was shown on this connection
  /** @type {string | null} */
  #awaited = null;
  /** Where the user is, as far as we were told. */
  #known = this.id;

  /** `go(id)` is called when the user has gone to another problem's address. */
  constructor(go) {
    window.addEventListener("hashchange", () => {
      if (this.id === this.#known) return; // of two quick steps, the first is told when the second is taken
      this.#known = this.#awaited = this.id;
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
    this.#known = this.id;
  }

  /** This problem is shown now. */
  show(id) {
    if (this.id !== this.#known || (this.#awaited !== null && this.#awaited !== id)) return;
    this.#awaited = null;
    if (id !== this.id) this.#write(this.#settled ? "pushState" : "replaceState", id);
    this.#settled = true;
  }

  /** No problem is shown any more. */
  leave() {
    if (this.#awaited === null && this.id !== null && this.id === this.#known) this.#write("replaceState", null);
  }

  /** The problem that the user went to does not come: this one is still shown. */
  restore(id) {
    if (this.#awaited === null || this.id !== this.#known) return;
    this.#awaited = null;
    this.#write("replaceState", id);
  }

  /** @param {"pushState" | "replaceState"} how @param {string | null} id */
  #write(how, id) {
    history[how](null, "", id === null ? location.pathname + location.search : addressOf(id));
    this.#known = id;
  }
}
