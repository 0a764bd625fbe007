/** The announce of a page: it tells the room that the page is online or offline, under an id of its own. */

const VERSION = "0.1.0";

/** Not randomUUID, which exists only on secure origins: a server in a classroom may use plain http. */
const peerId = Array.from(crypto.getRandomValues(new Uint32Array(4)), (part) => part.toString(36)).join("-");

/** Messages about the board as a whole, between this page and its server only. */
export const FOLLOW = { id: 0, component: "board", type: "follow" };
export const CLEAR = { id: 0, component: "board", type: "clear" };

export function announce(status) {
  const payload = { peerId, role: "sidekick", status, version: VERSION, timestamp: Date.now() };
  return { id: 0, component: "system", type: "announce", payload };
}
