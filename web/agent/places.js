/** What there is: workspaces, their sessions, and the usual model. It is asked for again while the page is looked at. */

import { notify } from "../house/house.js";
import { Refused, ask } from "./api.js";
import { draw, page } from "./page.js";

const WORKSPACE = "troupe.agent.workspace";

/** Counts what was asked for: an answer that is older than the last question is not shown. */
let asked = 0;
/** The last of them, until it is answered. @type {Promise<void> | null} */
let latest = null;

/** Afterwards what is shown is as new as this question: one that was overtaken waits for the one that did. */
export function refresh() {
  const mine = load((asked += 1));
  const answered = () => {
    if (latest === mine) latest = null;
  };
  latest = mine;
  mine.then(answered, answered);
  return mine;
}

/** Now and then: a server that is slow is not asked again before it has answered. */
export function refreshNowAndThen() {
  if (!latest) refreshLater();
}

/** @param {number} mine */
async function load(mine) {
  const [listed, current] = await Promise.all([ask("GET", "workspaces"), ask("GET", "models/current")]);
  const kept = page.workspace ?? lastWorkspace();
  const chosen = (listed.find(({ id }) => id === kept) ?? listed[0])?.id ?? null;
  const inside = chosen ? await ask("GET", `sessions?workspace_id=${encodeURIComponent(chosen)}`) : [];
  if (mine !== asked) return latest ?? undefined;
  [page.workspaces, page.workspace, page.sessions, page.usual] = [listed, chosen, inside, current];
  draw();
}

/** Quietly, and again later if it cannot be. The token may have changed: a server that lost its own makes a new one. */
export function refreshLater() {
  refresh().catch((error) => {
    if (error instanceof Refused && error.status === 401) page.refused(error.message);
  });
}

/** What was asked for by the reader: a refusal is told, and nothing else happens. */
export async function tried(work) {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Refused && error.status === 401) page.refused(error.message);
    else notify(error.message);
    return null;
  }
}

export function chooseWorkspace(id) {
  page.workspace = id;
  try {
    localStorage.setItem(WORKSPACE, id);
  } catch {
    // kept for as long as the page is open
  }
}

function lastWorkspace() {
  try {
    return localStorage.getItem(WORKSPACE);
  } catch {
    return null;
  }
}
