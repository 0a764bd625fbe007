/**
 * The console page: the current picture of the server, or the one at the moment when the reader paused it.
 *
 *   socket -> live picture -> shown picture (the live one, or a copy while paused) -> views
 *
 * A message is folded into the picture when it comes, and drawn with the next frame. These are separate tasks: several
 * messages between two frames are drawn once.
 */

import { LiveSocket, Outline, beside, format, h, icon, mark, must, notify, put, turn } from "../house/house.js";
import { ORDERS, Order } from "./order.js";
import { NOTES, Picture, hashOf, isTrouble, nameOf, pathOf, stateOf } from "./picture.js";
import { COLUMNS, painter } from "./row.js";
import { Views } from "./views.js";
import "./details.js";
import "./notes.js";
import "./systems.js";
import "./totals.js";

/** @import { Console } from "../messages" */

const CROWD = 40; // a supervisor with more children than this starts folded
const $ = (selector) => document.querySelector(selector);

const bar = $("house-bar");
const banner = $("house-banner");
const totals = $("console-totals");
const systems = $("console-systems");
const search = $("house-search");
const tree = $("house-tree");
const emptyTree = $(".actors house-empty");
const details = $("console-details");
const lists = Object.fromEntries(NOTES.map((kind) => [kind, $(`console-${kind}`)]));
const troubleButton = $(".trouble");
const pauseButton = $(".pause");
const pausing = $(".pausing");
const sorting = $(".sorting select");
const views = new Views($(".views"));

const socket = new LiveSocket(beside("live"));
const outline = new Outline();
const order = new Order();
const live = new Picture();
let shown = live;
let pausedAt = null;
let onlyTrouble = false;
let chosen = pathOf(location.hash);
let unrevealed = chosen !== null; // a link has chosen an actor that was not scrolled into sight yet

// --- drawing

let frame = null;

function draw() {
  frame ??= requestAnimationFrame(() => {
    frame = null;
    if (shown.totals) drawNow(performance.now());
    drawPausing();
  });
}

function drawNow(now) {
  const time = shown.time(now);
  const trouble = [...shown.nodes.values()].filter(isTrouble).length;
  bar.systems = shown.systems;
  totals.show(shown, now);
  systems.show(shown.systems);
  drawTree();
  details.show(chosen, shown, now);
  for (const kind of NOTES) {
    lists[kind].show(shown[kind], time);
    views.count(kind, shown[kind].length);
  }
  put($(".trouble .badge"), format.count(trouble));
  mark(troubleButton, "data-zero", trouble === 0);
  document.title = trouble ? `(${trouble}) Troupe console` : "Troupe console";
}

function drawTree() {
  if (unrevealed && shown.nodes.has(chosen)) openWayTo(chosen);
  const rows = outline.rows({
    children: order.of(shown),
    matches,
    extra: (path) => more(shown.nodes.get(path)),
  });
  tree.hidden = rows.length === 0;
  emptyTree.hidden = rows.length > 0;
  tree.show(rows);
  if (unrevealed && shown.nodes.has(chosen)) {
    unrevealed = false;
    tree.choose(chosen, true);
  }
  if (rows.length > 0) return;
  emptyTree.say(...whyEmpty());
}

function whyEmpty() {
  if (shown.nodes.size === 0) return ["No actors are running.", "They appear here as they start."];
  if (outline.terms.length === 0) {
    return ["No trouble.", "No actor is paused, in backoff or behind with its mailbox, and none has crashed lately."];
  }
  const left = [...shown.nodes.values()].reduce((sum, { folded }) => sum + (folded ?? 0), 0);
  const but = left ? `, but not at the ${format.count(left)} that long lists leave out` : "";
  const hint = `The filter looks at names, states, errors and notes${but}. Escape in the field clears it.`;
  return [`Nothing matches “${search.value}”.`, hint];
}

/**
 * The text of a row for children that are not listed. A search does not know their names, so there is no such row then.
 *
 * @param {Console.Node | undefined} node
 */
function more(node) {
  return node?.folded && !outline.searching ? `+ ${format.count(node.folded)} more` : null;
}

function matches(path, terms) {
  const node = must(shown.nodes.get(path), `actor ${path}`);
  if (onlyTrouble && !isTrouble(node)) return false;
  const { name, state, error, note } = node;
  const text = [nameOf(node), name, state, stateOf(node), error, note].join("\n").toLowerCase();
  return terms.every((term) => text.includes(term));
}

function openWayTo(path) {
  const { parent } = shown.nodes.get(path) ?? { parent: null };
  if (parent === null) return;
  outline.set(parent, true);
  openWayTo(parent);
}

// --- the server's messages

socket.addEventListener("message", (/** @type {CustomEvent<Console.Message>} */ { detail }) => {
  if (detail.type === "hello") greet(detail);
  live.hear(detail, performance.now());
  draw();
});

/** @param {Console.Hello} hello */
function greet(hello) {
  if (live.pid && live.pid !== hello.pid) notify("The server has been restarted.");
  socket.silence = Math.max(10, 5 * hello.interval);
  const sizes = new Map(hello.nodes.map(({ path }) => [path, 0]));
  outline.forget((path) => sizes.has(path));
  for (const { parent } of hello.nodes) if (parent !== null) sizes.set(parent, (sizes.get(parent) ?? 0) + 1);
  for (const { path, parent } of hello.nodes) outline.suggest(path, parent === null || (sizes.get(path) ?? 0) <= CROWD);
}

socket.addEventListener("state", () => (bar.connection = socket.condition));
bar.connection = socket.condition;
banner.socket = socket;

// --- pausing

function pause() {
  const on = pausedAt === null;
  pausedAt = on ? { time: performance.now(), ticks: live.ticks } : null;
  shown = on ? live.copy() : live;
  mark(pauseButton, "aria-pressed", on);
  document.documentElement.toggleAttribute("data-paused", on);
  turn(pauseIcon, on ? "play" : "bars");
  put(pauseWord, on ? "Resume" : "Pause");
  mark(pauseButton, "aria-label", on ? "Resume" : "Pause");
  draw();
}

function drawPausing() {
  if (pausedAt === null) {
    put(pausing, "");
    return;
  }
  const waiting = live.ticks - pausedAt.ticks;
  const changes = waiting === 1 ? "1 change waits" : `${format.count(waiting)} changes wait`;
  put(pausing, `Paused ${format.span((performance.now() - pausedAt.time) / 1000)} · ${changes}`);
}

const pauseIcon = icon("bars");
const pauseWord = h("span", {}, "Pause");
pauseButton.append(pauseIcon, pauseWord);
pauseButton.ariaLabel = "Pause";
pauseButton.addEventListener("click", pause);

// --- the tree

tree.columns = COLUMNS;
tree.painter = painter(() => shown, () => outline.terms);
tree.addEventListener("fold", ({ detail }) => {
  outline.set(detail.key, detail.open);
  draw();
});
tree.addEventListener("choose", ({ detail }) => {
  if (shown.nodes.has(detail.key)) location.hash = hashOf(detail.key);
});
search.addEventListener("filter", ({ detail }) => {
  outline.search(detail, onlyTrouble);
  draw();
});
troubleButton.addEventListener("click", () => {
  onlyTrouble = !onlyTrouble;
  mark(troubleButton, "aria-pressed", onlyTrouble);
  outline.search(search.value, onlyTrouble);
  draw();
});
for (const [selector, open, sign] of [[".unfold", true, "unfold"], [".fold", false, "fold"]]) {
  $(selector).append(icon(sign));
  $(selector).addEventListener("click", () => {
    for (const [path, { parent }] of shown.nodes) outline.set(path, open || parent === null);
    draw();
  });
}

// --- the order

function sort(by) {
  order.by = by;
  sorting.value = order.by;
  tree.sorted = order.by;
  draw();
}

sorting.append(...ORDERS.map(([value, label]) => h("option", { value }, label)));
sorting.addEventListener("change", () => sort(sorting.value));
tree.addEventListener("sort", ({ detail }) => sort(detail.id === order.by ? "place" : detail.id));
sort(order.by);

// --- the chosen actor

window.addEventListener("hashchange", () => {
  const path = pathOf(location.hash);
  unrevealed = path !== null && !tree.shows(path);
  chosen = path;
  tree.choose(chosen);
  if (document.body.dataset.view !== "tree") views.turnTo("tree");
  draw();
});
details.addEventListener("close", () => {
  history.pushState(null, "", location.pathname + location.search);
  chosen = null;
  tree.choose(null);
  tree.focus();
  draw();
});
tree.choose(chosen);
tree.hidden = true;
emptyTree.hidden = false;
emptyTree.say("Connecting…", "Waiting for the server's first message.");
