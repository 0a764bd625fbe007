/**
 * The desk's page: the requests between scripts and whoever answers them.
 *
 *   socket -> totals, window, detail -> drawn with the next frame
 *   what the reader looks at (filter, order, place, request) -> wishes to the socket; said again on a new connection
 *   what the reader has done (requeue, cancel, archive) -> POST
 */

import { LiveSocket, beside, format, h, icon, inComposition, listenToKeys, mark, notify, put } from "../house/house.js";
import { KEYS } from "./keys.js";
import { order, orderEditor } from "./orders.js";
import { FAILED, OPEN, requests } from "./states.js";
import "./detail.js";
import "./health.js";
import "./list.js";
import "./timeline.js";
import "./totals.js";
import "./welcome.js";

/** @import { Desk } from "../messages" */

const ORDERS = [["newest", "Newest first"], ["oldest", "Oldest first"], ["slowest", "Slowest first"],
  ["attempts", "Most attempts first"]];
const $ = (selector) => document.querySelector(selector);

const bar = $("house-bar");
const states = $("desk-states");
const figures = $("desk-figures");
const search = $("house-search");
const sorting = $(".sorting select");
const list = $("desk-list");
const welcome = $("desk-welcome");
const empty = $(".requests > house-empty");
const detail = $("desk-detail");
const health = $("desk-health");
const trouble = $(".trouble");
const pickedBar = $(".picked");
const question = $("desk-question");

/** @type {Desk.DeskTotals | null} */
let totals = null;
/** @type {Desk.Window | null} */
let shown = null;
/** @type {Desk.RequestDetail | null} */
let told = null;
let chosen = idOf(location.hash);
const filter = { states: /** @type {string[]} */ ([]), text: "", order: "newest" };

function idOf(hash) {
  try {
    return hash.startsWith("#/") ? decodeURIComponent(hash.slice(2)) || null : null;
  } catch {
    return null;
  }
}

// --- the socket

const socket = new LiveSocket(beside("live"), { opening: () => [windowWish(), { type: "detail", id: chosen ?? "" }] });

function windowWish() {
  return { type: "window", ...filter, ...list.wish };
}

socket.addEventListener("message", (/** @type {CustomEvent<Desk.Message>} */ { detail: message }) => {
  switch (message.type) {
    case "totals": totals = message; break;
    case "window":
      shown = message;
      list.hidden = message.total === 0; // before its rows come: what is hidden cannot scroll
      list.show(message);
      break;
    case "detail": told = message; break;
    case "gone":
      if (told?.fact.id === message.id) told = null; // else it would be drawn again
      detail.gone(message.id);
      break;
    case "notice": notify(message.text); break;
  }
  draw();
});
socket.addEventListener("state", () => (bar.connection = socket.condition));
bar.connection = socket.condition;
$("house-banner").socket = socket;

// --- drawing

let frame = null;

function draw() {
  frame ??= requestAnimationFrame(() => {
    frame = null;
    drawNow(Date.now() / 1000);
  });
}

function drawNow(now) {
  if (told) detail.show(told, now);
  drawWhatIsThere();
  if (!totals) return;
  states.show(totals);
  figures.show(totals, now);
  health.show(totals);
  const standing = totals.trouble || totals.down;
  put(trouble, standing ?? "");
  trouble.hidden = !standing;
  const { by_state: counts } = totals;
  const failed = [...FAILED].reduce((sum, state) => sum + (counts[state] ?? 0), 0);
  $(".requeue-all").disabled = failed === 0;
  $(".archive-all").disabled = over() === 0;
  mark($(".how"), "data-tone", standing ? "bad" : totals.peer_alive === false ? "warn" : null);
  const gaveUp = counts["gave up"] ?? 0;
  document.title = standing ? "(!) Desk · Troupe" : gaveUp ? `(${gaveUp}) Desk · Troupe` : "Desk · Troupe";
}

function drawWhatIsThere() {
  const none = shown !== null && totals !== null && shown.total === 0;
  const filtered = filter.text !== "" || filter.states.length > 0;
  list.hidden = none || shown === null;
  welcome.hidden = !none || filtered || Boolean(totals?.filling || totals?.down);
  empty.hidden = !list.hidden && shown !== null || !welcome.hidden;
  if (empty.hidden) return;
  if (shown === null || totals === null) empty.say("Connecting…", "Waiting for the server's first message.");
  else if (filter.text) empty.say(`Nothing matches “${filter.text}”.`, "The filter looks at ids, commands, submitters and failures. Escape in the field clears it.");
  else if (filtered) empty.say(`No request is in this state: ${filter.states.join(", ")}.`);
  else if (totals.down) empty.say("No requests are known here.", totals.down);
  else empty.say("Reading the journal…", "The requests of earlier days appear in a moment.");
}

function over() {
  return Object.entries(totals?.by_state ?? {}).reduce((sum, [state, count]) => sum + (OPEN.has(state) ? 0 : count), 0);
}

/** Ages are told in seconds. */
setInterval(() => {
  if (document.hidden) return;
  const now = Date.now() / 1000;
  list.repaint();
  detail.tick(now);
  if (totals) figures.show(totals, now);
}, 1000);

// --- the list

list.addEventListener("want", () => socket.send(windowWish()));
list.addEventListener("choose", ({ detail: { id } }) => choose(id));
list.addEventListener("pick", drawPicked);
search.addEventListener("filter", ({ detail: text }) => refilter({ text: text.trim().slice(0, 200) }));
search.addEventListener("keydown", (event) => {
  if (!["Enter", "ArrowDown"].includes(event.key) || inComposition(event) || list.hidden) return;
  event.preventDefault();
  list.focus(); // on to what was found
});
states.addEventListener("filter", ({ detail: chosenStates }) => refilter(chosenStates));
sorting.append(...ORDERS.map(([value, label]) => h("option", { value }, label)));
sorting.addEventListener("change", () => refilter({ order: sorting.value }));

function refilter(change) {
  Object.assign(filter, change);
  list.restart();
}

function drawPicked() {
  const count = list.picked.size;
  pickedBar.hidden = count === 0;
  if (count === 0) return;
  const button = (label, act) => h("button", { type: "button", onclick: act }, label);
  pickedBar.replaceChildren(h("b", {}, `${format.count(count)} picked`),
    button("Requeue", () => act("requeue")), button("Cancel", () => act("cancel")),
    button("Archive", () => act("archive")), button("Let go", () => list.pick([])));
}

// --- one request

function choose(id) {
  const hash = id === null ? location.pathname + location.search : `#/${encodeURIComponent(id)}`;
  history.pushState(null, "", hash);
  turnTo(id);
}

function turnTo(id) {
  chosen = id;
  told = null;
  list.open = id;
  detail.await(id);
  document.body.toggleAttribute("data-chosen", id !== null);
  socket.send({ type: "detail", id: id ?? "" });
}

for (const event of ["popstate", "hashchange"]) {
  window.addEventListener(event, () => {
    const id = idOf(location.hash);
    if (id !== chosen) turnTo(id);
  });
}
detail.addEventListener("close", () => {
  choose(null);
  list.focus();
});
detail.addEventListener("order", ({ detail: { what, id } }) => order(what, { ids: [id] }));

// --- orders

/** On what is picked, else on the open request, else on the one under the mark if the reader sees that. */
async function act(what) {
  const ids = list.picked.size ? [...list.picked] : [chosen ?? list.marked()?.id].filter(Boolean);
  if (!ids.length) return;
  if (ids.length > 1 && what !== "requeue") {
    const verb = what[0].toUpperCase() + what.slice(1);
    const sentence = what === "cancel" ? "What is under way is given up; nothing is deleted."
      : "Their files move to the archive folder. What is not over stays.";
    if (!(await question.ask({ title: `${verb} ${requests(ids.length)}?`, sentence, verb }))) return;
  }
  await order(what, { ids });
  list.pick([]);
}

$(".requeue-all").addEventListener("click", async () => {
  const failed = [...FAILED].reduce((sum, state) => sum + (totals?.by_state[state] ?? 0), 0);
  const agreed = await question.ask({
    title: `Requeue ${requests(failed)}?`,
    sentence: "All that gave up or were cancelled get three fresh attempts, one after the other.",
    verb: "Requeue all",
  });
  if (agreed) await order("requeue", { all: true });
});

$(".archive-all").addEventListener("click", async () => {
  const days = h("select", { ariaLabel: "Which" }, ...[[0, "all that is over"], [1, "what ended more than a day ago"],
    [7, "what ended more than a week ago"], [30, "what ended more than 30 days ago"]]
    .map(([value, label]) => h("option", { value: String(value) }, label)));
  const agreed = await question.ask({
    title: "Archive",
    sentence: `${requests(over())} are over. Their files move to dated folders in the archive, and leave this list.`,
    verb: "Archive",
    extra: days,
  });
  if (!agreed) return;
  const older = Number(days.value) * 86_400;
  await order("archive", older ? { older_than: older } : { all: true });
});

// --- the keyboard, and what a narrow page hides

const how = $(".how");
how.append(icon("more"));
how.addEventListener("click", () => showHow(!document.body.hasAttribute("data-how")));
health.addEventListener("close", () => {
  showHow(false);
  how.focus();
});

health.addEventListener("editor", async ({ detail: { order: wanted } }) => {
  const agreed = wanted === "start" || await question.ask({
    title: "End the editor?",
    sentence: "It is ended with all that it has started, and what is not saved in it may be lost. Requests wait until it is launched again.",
    verb: "End it",
  });
  if (agreed) await orderEditor(wanted);
});

/** On a narrow page, where it has no place of its own. */
function showHow(open) {
  document.body.toggleAttribute("data-how", open);
  mark(how, "aria-expanded", open);
}

$(".help").append(icon("help"));
$(".help").addEventListener("click", () => $("house-shortcuts").open({ "": KEYS }));

const WISHES = {
  next: () => walk(1),
  previous: () => walk(-1),
  open: () => list.active && choose(list.active.id),
  leave: () => {
    if (chosen !== null) detail.announce("close");
    else if (document.body.hasAttribute("data-how")) health.announce("close");
    else list.pick([]);
  },
  pick: () => {
    const fact = list.marked();
    if (fact) list.toggle(fact.id);
  },
  requeue: () => act("requeue"),
  cancel: () => act("cancel"),
  archive: () => act("archive"),
  failed: () => states.choose(states.chosen.has("gave up") ? [] : ["gave up"]),
  help: () => $("house-shortcuts").open({ "": KEYS }),
};

function walk(rows) {
  if (document.activeElement !== list) list.focus();
  else list.step(rows);
}

listenToKeys(KEYS, (wish) => WISHES[wish]());
if (chosen !== null) {
  turnTo(chosen);
  list.seek(chosen);
}
list.hidden = true;
draw();
