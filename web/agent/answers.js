/**
 * What the reader answers to what the agent asks; and undo.
 *
 * Rules
 *   - No key answers but in the request that has the focus, and only the reader brings it there, or leaves it free: a new
 *     request takes the focus if it is nowhere, never out of a field or from a button.
 *   - A key that approves is not meant for a request to which the focus has just come by itself. One that rejects asks
 *     for the reason, and answers nothing yet.
 *   - No key approves what is out of sight (in_sight.js). The first press brings it there.
 *   - Text that was begun in a field is none of these keys, also when the field goes away (house/keys.js).
 *   - An answer is sent once. What another window has answered meanwhile, holds.
 *   - An answer is to what was seen, and no more: several changes are answered one by one, each by the hunks that it has.
 *     (The contract's scope "all" means every change that waits, also one that has come in this moment.)
 */

import { dropText, isField, notify } from "../house/house.js";
import { ask } from "./api.js";
import { newId, say } from "./chosen.js";
import { page, parts } from "./page.js";
import { refreshLater, tried } from "./places.js";
import { inCodes } from "./visible.js";

const { composer, plan, question, transcript, undo, waiting } = parts;

// --- answers

transcript.addEventListener("answer", ({ detail }) => answer(detail));
transcript.addEventListener("answer-file", ({ detail: { path, remember } }) => {
  for (const request of openChanges()) if (request.event.file_path === path) answer({ request, approved: true, remember });
});

transcript.addEventListener("take-back", ({ detail: { request, here } }) => {
  say({ type: "client.take_back_command", command_id: request.event.command_id, run_here: here });
});

const openChanges = () => (page.session?.requests.waiting ?? []).filter(({ kind, state }) => kind === "patch" && state === "waiting");

/** Which of it is meant: this request alone. A change that has no hunks can only be named by its file. */
function scopeOf({ kind, event }, approved, hunks) {
  if (kind !== "patch") return { scope: "all" };
  if (!approved) return { scope: "hunk", file_path: event.file_path };
  if (!event.hunks?.length) return { scope: "file", file_path: event.file_path };
  return { scope: "hunk", file_path: event.file_path, hunks: hunks ?? [...event.hunks.keys()] };
}

/** @param {any} given hunks: those that are taken; null: all */
function answer({ request, approved, hunks = null, remember = "once", exactly = false, reason = null }) {
  const sent = say({
    type: "client.approval_response", request_id: request.id, approved, remember, ...scopeOf(request, approved, hunks),
    ...(exactly ? { exactly } : {}), ...(reason ? { reason } : {}),
  });
  if (!sent) return;
  const here = transcript.contains(document.activeElement) || waiting.contains(document.activeElement);
  page.session?.requests.sent(request.id);
  const next = page.session?.requests.waiting.find(({ state }) => state === "waiting");
  if (here && next) transcript.requestOf(next.id)?.comeForward();
  else if (here) transcript.toEnd(); // what comes of it is there
}

waiting.addEventListener("go", () => goToRequest(1));
waiting.addEventListener("all", async ({ detail: { approved } }) => {
  const asked = openChanges();
  const files = [...new Set(asked.map(({ event }) => inCodes(event.file_path)))];
  const listed = `${files.slice(0, 5).join(", ")}${files.length > 5 ? ` and ${files.length - 5} more files` : ""}`;
  const agreed = await question.ask({
    title: `${approved ? "Approve" : "Reject"} all ${asked.length} changes?`,
    sentence: approved ? `With all their hunks: ${listed}.` : `Nothing is written: ${listed}. The agent hears why:`,
    verb: approved ? "Approve" : "Reject",
    text: approved ? null : "",
  });
  if (agreed === null) return;
  const still = new Set(openChanges());
  for (const request of asked) if (still.has(request)) answer({ request, approved, reason: typeof agreed === "string" ? agreed || null : null });
  composer.focus();
});

// --- the keyboard

/** What is asked comes forward if the focus is nowhere else. */
transcript.addEventListener("asked", ({ detail: part }) => {
  const { activeElement: focused } = document;
  const free = !focused || focused === document.body || focused === transcript
    || (focused.localName === "agent-request" && /** @type {any} */ (focused).request.state !== "waiting");
  if (free && !document.querySelector("dialog[open]") && !isField(focused)) part.comeForward();
});

const here = () => /** @type {any} */ (document.activeElement?.closest("agent-request") ?? null);

export function goToRequest(by) {
  const open = (page.session?.requests.waiting ?? []).map(({ id }) => transcript.requestOf(id)).filter((each) => each?.isOpen);
  const at = open.indexOf(here());
  const next = at === -1 ? open.at(by > 0 ? 0 : -1) : open[(at + by + open.length) % open.length];
  if (next) next.go();
  else notify("Nothing waits for an answer.");
}

/**
 * A key that answers, or moves in, the request that has the focus; without one it leads to the first. "Reject" asks why
 * at once, wherever the focus was: it does nothing yet, and what is typed next is the reason, and no key.
 */
export function answerHere(wish) {
  const request = here();
  const isIn = Boolean(request && (request.isOpen || wish.endsWith("Hunk")));
  if (!isIn && page.session?.requests.waiting.length) goToRequest(1);
  if (wish === "reject" && !here()?.reject()) dropText();
  if (wish === "reject" || !isIn) return;
  if (wish === "nextHunk") request.step(1);
  else if (wish === "lastHunk") request.step(-1);
  else if (wish === "approve") request.approveByKey();
}

composer.addEventListener("up", () => {
  if (page.session?.requests.waiting.length) goToRequest(1);
});

// --- undo, and doing again

/** Of the last turn, if none is named. */
export function showUndo(turn = null, redo = false) {
  const { session } = page;
  if (!session) return;
  const wish = (preview) => ask("POST", `sessions/${encodeURIComponent(session.id)}/${redo ? "redo" : "undo"}`,
    { preview, ...(turn === null ? {} : { turn_id: turn }) });
  undo.open(redo, wish);
}

transcript.addEventListener("undo", ({ detail: { turn, redo } }) => showUndo(turn, redo));
undo.addEventListener("undone", ({ detail: { sentence } }) => {
  notify(sentence);
  refreshLater();
});

// --- the plan

plan.addEventListener("approve", ({ detail }) => {
  if (say({ type: "client.approve_plan", message_id: newId(), ...detail })) plan.sent();
});

// --- how the session acts

export function changeMode(mode) {
  return tried(async () => {
    if (page.session) await ask("PATCH", `sessions/${encodeURIComponent(page.session.id)}`, { mode });
    refreshLater();
  });
}
