/**
 * What the reader has written, and of which nobody knows yet that it has arrived. It outlives the page.
 *
 *   drafts, and reasons that were begun      for this tab (sessionStorage): they stay over a reload
 *   what was said and not confirmed          for this browser (localStorage): it stays when the tab is closed, too
 *
 * What was said is handed on with its id to the next page that opens the session, in whatever tab. That one hears first
 * what the server knows, and says again only what is not there; and of two messages with one id the server takes one. So
 * nothing is lost, and nothing is said twice. A browser that keeps nothing, or has no room, loses it with the page.
 */

const [DRAFTS, REASONS, UNCONFIRMED] = ["agent-drafts", "agent-reasons", "agent-unconfirmed"];
/** ms. Who comes back later than this decides anew whether it is to be said. */
const STALE = 600_000;
/** ms. Nobody comes back to it any more. */
const FORGOTTEN = 30 * 86_400_000;

/** @typedef {{message_id: string, message: string}} Said */
/** @typedef {{said: Said, at: number}} Kept */

function read(storage, name) {
  try {
    return JSON.parse(storage.getItem(name) ?? "{}");
  } catch {
    return {};
  }
}

function write(storage, name, value) {
  try {
    storage.setItem(name, JSON.stringify(value));
  } catch {
    // it keeps nothing, or has no room
  }
}

/** By session. @returns {Record<string, string>} */
export const drafts = () => read(sessionStorage, DRAFTS);

/** By session, and in it by request. @returns {Record<string, Record<string, string>>} */
export const reasons = () => read(sessionStorage, REASONS);

export function keepWritten(texts, begun) {
  write(sessionStorage, DRAFTS, texts);
  write(sessionStorage, REASONS, begun);
}

/** The page leaves the session before the server has confirmed these. @param {string} session @param {Said[]} all */
export function handOn(session, all) {
  const now = Date.now();
  /** @type {Record<string, Kept[]>} */
  const known = read(localStorage, UNCONFIRMED);
  const ids = new Set(all.map(({ message_id: id }) => id));
  const others = (known[session] ?? []).filter(({ said }) => !ids.has(said.message_id));
  known[session] = [...others, ...all.map((said) => ({ said, at: now }))];
  const left = Object.entries(known).map(([id, kept]) => [id, kept.filter(({ at }) => now - at < FORGOTTEN)]);
  write(localStorage, UNCONFIRMED, Object.fromEntries(left.filter(([, kept]) => kept.length)));
}

/**
 * What was handed on for a session: whoever takes it has it. `isStale`: it is not to be said by itself any more.
 *
 * @param {string} session
 * @returns {{said: Said, isStale: boolean}[]}
 */
export function takeOver(session) {
  /** @type {Record<string, Kept[]>} */
  const { [session]: kept = [], ...others } = read(localStorage, UNCONFIRMED);
  if (kept.length) write(localStorage, UNCONFIRMED, others);
  return kept.map(({ said, at }) => ({ said, isStale: Date.now() - at > STALE }));
}
