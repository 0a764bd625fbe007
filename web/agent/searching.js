/**
 * The search through the chosen folder: what <agent-search> shows is asked of the server, as it is typed.
 *
 * While the dialog is open, the index is asked how far it is, and the policy what may be read. If either has changed, so
 * may have what was found, and it is searched again: what is shown is what is true now. An answer that was overtaken by
 * another question is not shown. But a change of the index overtakes none: a large one changes more often than it can be
 * searched.
 */

import { copy } from "../house/house.js";
import { Refused, ask } from "./api.js";
import { page, parts } from "./page.js";

const { search, composer } = parts;
const TYPED = 90;
const LOOK = 400;
const PATIENT_LOOK = 2000;

/** Counts the questions. */
let asked = 0;
/** The question whose answer is awaited. */
let awaited = 0;
/** The index's generation that was searched last. @type {number | null} */
let searched = null;
/** How the index was, and what the policy let be read, when what is shown was found. */
let circumstances = "";
/** Whether an index that nobody keeps up to date has been asked to be. */
let begun = false;
/** @type {ReturnType<typeof setTimeout> | undefined} */
let typing;
/** @type {ReturnType<typeof setTimeout> | undefined} */
let looking;

const place = () => `workspaces/${encodeURIComponent(page.workspace ?? "")}`;

export function openSearch() {
  if (!page.workspace || search.isOpen) return;
  begun = false;
  circumstances = "";
  search.showIndex(null);
  search.open();
  look();
}

search.addEventListener("ask", () => {
  clearTimeout(typing);
  asked += 1;
  awaited = 0;
  if (!search.words) search.clear();
  else typing = setTimeout(find, TYPED);
});

search.addEventListener("closed", () => {
  asked += 1;
  awaited = 0;
  searched = null;
  clearTimeout(typing);
  clearTimeout(looking);
});

async function find() {
  const mine = (awaited = asked += 1);
  const fields = new URLSearchParams({ q: search.words, kind: search.kind, most: "20" });
  try {
    const answer = await ask("GET", `${place()}/search?${fields}`);
    if (mine !== asked) return;
    searched = answer.generation;
    search.show(answer);
  } catch (error) {
    if (mine === asked) refused(error);
  } finally {
    if (mine === awaited) awaited = 0;
  }
}

/** How far the index is, again and again. */
async function look() {
  let again = PATIENT_LOOK;
  try {
    let status = await ask("GET", `${place()}/index/status`);
    if (!search.isOpen) return;
    if (!begun && status.watching === "off") {
      begun = true;
      status = await ask("POST", `${place()}/index/refresh`);
      if (!search.isOpen) return;
    }
    search.showIndex(status);
    if (status.index_status === "indexing") again = LOOK;
    const policy = await ask("GET", `${place()}/policy`);
    if (!search.isOpen) return;
    const now = JSON.stringify([status.index_status, policy.allowed_read_globs, policy.blocked_globs]);
    const another = circumstances !== "" && circumstances !== now;
    if (!awaited || !circumstances) circumstances = now;
    if (search.words && searched !== null && !awaited && (another || searched !== status.generation)) find();
  } catch (error) {
    if (!search.isOpen) return;
    search.showIndex(null);
    if (error instanceof Refused && error.status === 401) return refused(error);
  }
  clearTimeout(looking);
  looking = setTimeout(look, again);
}

function refused(error) {
  if (error instanceof Refused && error.status === 401) {
    search.close();
    page.refused(error.message);
  } else {
    search.refused(error.message);
  }
}

search.addEventListener("take", ({ detail: { path, line } }) => {
  search.close();
  if (page.session) composer.mention(path);
  else copyPlace(`${path}:${line}`);
});

search.addEventListener("copy", ({ detail: { place: copied } }) => copyPlace(copied));

function copyPlace(place) {
  copy(place, { said: `${place} is copied.`, otherwise: place });
}
