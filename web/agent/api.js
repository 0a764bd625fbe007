/**
 * The agent's HTTP interface, with the token. The token comes with the ready link, in the fragment, which no server and
 * no log ever sees; it is taken out of the address at once, and kept by the browser for this address. Anybody can write a
 * link, so one replaces a token that is kept only if the server refuses that one, and takes the new one.
 */

const KEPT = "troupe.agent.token";

/** What the server refused, in its own words. */
export class Refused extends Error {
  /** @param {number} status @param {string} sentence */
  constructor(status, sentence) {
    super(sentence);
    this.status = status;
  }
}

export const access = {
  /** @type {string} */
  token: kept(),
  /** Another one, that a link has brought. @type {string | null} */
  offered: null,

  /** Takes what a link brings out of the address; it is used at once only if there is no other. */
  take() {
    const found = takeFromAddress();
    if (!found || found === this.token) return;
    if (this.token) this.offered = found;
    else this.set(found);
  },

  /** The token was refused: now the offered one is tried, if there is one. It is kept when it has been taken. */
  tryOffered() {
    if (!this.offered) return false;
    [this.token, this.offered] = [this.offered, null];
    return true;
  },

  set(token) {
    this.token = token;
    try {
      if (token) localStorage.setItem(KEPT, token);
      else localStorage.removeItem(KEPT);
    } catch {
      // a browser that keeps nothing: the token lasts as long as the page
    }
  },
};
access.take();

function kept() {
  try {
    return localStorage.getItem(KEPT) ?? "";
  } catch {
    return "";
  }
}

function takeFromAddress() {
  const found = /^#token=([A-Za-z0-9_-]{1,200})$/.exec(location.hash);
  if (!found) return null;
  history.replaceState(null, "", location.pathname + location.search);
  return found[1];
}

/**
 * Asks the server. Throws Refused, or an Error if it cannot be reached.
 *
 * @param {string} method
 * @param {string} path below /v1/
 * @param {object} [body]
 * @returns {Promise<any>}
 */
export async function ask(method, path, body) {
  let answer;
  try {
    answer = await fetch(`v1/${path}`, {
      method,
      headers: { authorization: `Bearer ${access.token}`, ...(body ? { "content-type": "application/json" } : {}) },
      body: body ? JSON.stringify(body) : undefined,
      cache: "no-store",
    });
  } catch {
    throw new Error("The server could not be reached.");
  }
  const said = await answer.json().catch(() => null);
  if (!answer.ok) throw new Refused(answer.status, said?.detail ?? `The server answered with ${answer.status}.`);
  return said;
}

/** The address of a session's stream, with a ticket that is good once. */
export async function streamOf(id) {
  const { ticket } = await ask("POST", "tickets");
  const url = new URL(`v1/sessions/${encodeURIComponent(id)}/stream?ticket=${ticket}`, document.baseURI);
  url.protocol = url.protocol === "https:" ? "wss:" : "ws:";
  return url.href;
}
