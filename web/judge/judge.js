/**
 * The judge's page: one problem, its cases, and their results.
 *
 *   socket -> panel (what is known) -> elements          what the user wants -> socket
 *
 * A message is folded into the panel when it comes, and drawn with the next frame. Elements write only what differs. A
 * request to the server changes nothing on the page until the server confirms it. The only exception is the switch of
 * the interpreter, which would seem stuck.
 *
 * A problem that has just come in is shown, unless the user is typing, is running something or has pinned the current
 * problem; then the page only mentions it. When the user returns to the page, from an editor or another tab, the server
 * is asked to look at the files, so the page is up to date.
 */

import { LiveSocket, beside, copy, icon, listenToKeys, mark, put } from "../house/house.js";
import { Address } from "./address.js";
import { KEYS, isTyping } from "./keys.js";
import { Panel } from "./panel.js";
import { showSign } from "./sign.js";
import "./cases.js";
import "./controls.js";
import "./news.js";
import "./notices.js";
import "./problem.js";
import "./problems.js";
import "./settings.js";
import "./welcome.js";

/** @import { Judge } from "../messages" */

const $ = (selector) => document.querySelector(selector);
const bar = $("house-bar");
const cases = $("judge-cases");
const controls = $("judge-controls");
const interrupted = $(".interrupted");
const listButton = $("button.list");
const none = $("house-empty.none");
const notices = $("judge-notices");
const problems = $("judge-problems");
const settings = $("judge-settings");
const desk = $(".desk");

const NARROW = matchMedia("(max-width: 48rem)");
const panel = new Panel();
const address = new Address(goTo);
const view = { blanks: false, onlyFailed: false };
const PINNED = "judge-pinned"; // in this tab's own storage, so it survives a reload
const LOOK_AGAIN = 1_000; // ms
let pinned = stored(PINNED);
let looked = -Infinity;
let listOpen = !NARROW.matches;
let openIfWide = true; // as it was left before the page became narrow
let shown = null;

// --- drawing

let frame = null;

function draw() {
  frame ??= requestAnimationFrame(() => {
    frame = null;
    drawNow();
  });
}

function drawNow() {
  const { problem, problems: known } = panel;
  const live = socket.state === "live";
  if (panel.id !== shown) {
    shown = panel.id;
    desk.scrollTop = 0;
    view.onlyFailed = false;
  }
  if (panel.failed.length === 0) view.onlyFailed = false;
  problems.hidden = !listOpen || known.length === 0;
  listButton.hidden = known.length === 0;
  mark(listButton, "aria-expanded", String(listOpen));
  problems.show(panel);
  $("judge-news").show(panel);
  $("judge-problem").show(problem, panel.settings, pinned);
  controls.show(panel, { ...view, live });
  drawRemarks(panel);
  if (problem) cases.show(panel, view);
  cases.hidden = !problem;
  settings.show(panel);
  $("judge-welcome").show(panel);
  showSign(panel);
}

function drawRemarks({ problem, told, cases: items, interrupted: broken }) {
  interrupted.hidden = !broken;
  const sentence = "The server ended in the middle of this run. What it had kept by then is shown; run the rest again.";
  put(interrupted, broken ? sentence : "");
  none.hidden = told && (!problem || items.size > 0 || Boolean(problem.gone));
  if (!told) none.say("Connecting…", "Waiting for the server's first message.");
  else if (problem && items.size === 0) {
    const folder = problem.testsDir;
    const hint = `Put an input and its output as 1.in and 1.out into ${folder}, or send the problem again.`;
    none.say("This problem has no cases.", hint);
  }
}

// --- the server's messages

const socket = new LiveSocket(beside("panel"), { opening: greeting });
socket.addEventListener("message", (/** @type {CustomEvent} */ { detail }) => {
  const { problems: known } = panel;
  const trouble = panel.problem?.trouble;
  panel.hear(detail);
  if (trouble && trouble !== panel.problem?.trouble) notices.remove(trouble);
  if (detail.type === "notice") tell(detail.level, detail.message);
  else if (detail.type === "state/problems") catchUp(known);
  else if (detail.type === "state/arrived") follow(detail.problem.id);
  else if (detail.type.startsWith("state/") && panel.id) address.show(panel.id);
  else if (detail.type === "state/init") address.leave();
  draw();
});
socket.addEventListener("state", () => {
  bar.connection = socket.condition;
  if (socket.state !== "live") panel.unask();
  draw();
});
bar.connection = socket.condition;
$("house-banner").socket = socket;

let wasAway = false; // true from a reconnection to the next list of problems

function greeting() {
  wasAway = panel.told;
  address.begin();
  return { type: "ui/requestInit", problemId: address.id ?? panel.id, follow: false };
}

/** A problem that came in while the page was not connected is shown, or mentioned, as if the page had been connected.
*/
function catchUp(known) {
  const { id, current } = panel;
  const isNew = wasAway && id !== null && current !== null && !known.some((each) => each.id === current);
  wasAway = false;
  if (!isNew) return;
  const problem = panel.problems.find((each) => each.id === current);
  if (problem) panel.hear({ type: "state/arrived", problem });
  follow(current);
}

/** Shows a problem that has come in, unless the user is busy. */
function follow(id) {
  if (!pinned && panel.free && !isTyping()) say({ type: "ui/openProblem", id });
}

/** The user is back: asks the server to look whether the files have changed. */
function look() {
  if (document.hidden || socket.state !== "live" || performance.now() - looked < LOOK_AGAIN) return;
  looked = performance.now();
  socket.send({ type: "ui/look" });
}

window.addEventListener("focus", look);
document.addEventListener("visibilitychange", look);

function tell(level, message) {
  if (level === "error") address.restore(panel.id);
  if (level === "error" && settings.refuse(message)) return;
  notices.add(message === panel.problem?.trouble ? "warn" : level, message); // which the page shows anyway
}

// --- the user's wishes

/** @param {Judge.UiMessage} message */
function say(message) {
  if (socket.send(message)) return true;
  notices.add("warn", "There is no connection to the server, so nothing was done.");
  return false;
}

/**
 * @param {number[]} indices
 * @param {Judge.RunOne | Judge.RunAll} message
 */
function run(indices, message) {
  const { problem, id } = panel;
  if (!problem || !indices.length) return;
  if (problem.unsupported) notices.add("warn", problem.unsupported);
  else if (panel.run) notices.add("info", "A run is under way. Press c to cancel it.");
  else if (panel.free && say({ ...message, problemId: id })) panel.ask(indices);
  draw();
}

function runOne(index) {
  if (panel.cases.has(index)) run([index], { type: "ui/runOne", index });
}

const WISHES = {
  runall: () => run([...panel.cases.keys()], { type: "ui/runAll" }),
  runfailed: () => run(panel.failed, { type: "ui/runAll", indices: panel.failed }),
  runone: runOne,
  runnumber: (key) => runOne(Number(key)),
  runcurrent: () => cases.current && runOne(cases.current.index),
  cancel: () => panel.run && say({ type: "ui/cancel", problemId: panel.id }),
  escape: () => (NARROW.matches && !problems.hidden ? showList(false) : WISHES.cancel()),
  interpreter: (interpreter) => {
    const { settings } = panel;
    if (settings && say({ type: "ui/switchInterpreter", interpreter })) panel.settings = { ...settings, interpreter };
  },
  setting: (change) => say({ type: "ui/updateSettings", settings: change }),
  open: (id) => {
    if (id !== panel.id) say({ type: "ui/openProblem", id });
    if (NARROW.matches) showList(false);
  },
  forget: (id) => {
    if (say({ type: "ui/forget", id })) panel.remove(id);
  },
  seen: (id) => panel.seen(id),
  pin: () => {
    pinned = !pinned;
    store(PINNED, pinned);
    if (pinned) notices.add("info", "Pinned: the page stays with this problem when another one comes in.");
    else notices.add("info", "The next problem that comes in is shown.");
  },
  whole: (index) => say({ type: "ui/requestCase", index, problemId: panel.id }),
  clip: (text) => copy(text, { tell: (sentence, copied) => notices.add(copied ? "info" : "warn", sentence) }),

  next: () => cases.move(1),
  previous: () => cases.move(-1),
  toggle: () => cases.toggle(),
  fold: () => cases.fold(![...cases.children].some((each) => each.isOpen)),
  gofailed: () => panel.failed.length && cases.go(panel.failed[0]),
  nextdifference: () => cases.current?.step(1),
  previousdifference: () => cases.current?.step(-1),
  blanks: () => (view.blanks = !view.blanks),
  onlyfailed: () => (view.onlyFailed = !view.onlyFailed),
  nextproblem: () => problems.step(1),
  previousproblem: () => problems.step(-1),
  list: () => showList(!listOpen),
  search: seek,
  settings: () => settings.open(),
  help: () => $("house-shortcuts").open({ "": KEYS }),
  redraw: () => undefined,
};

/** The wishes that elements announce. The others are for the keyboard only. */
const ANNOUNCED = [
  "runall", "runfailed", "runone", "cancel", "interpreter", "setting", "open", "whole", "clip", "gofailed", "blanks",
  "onlyfailed", "redraw", "forget", "seen", "pin",
];

function act(wish, detail) {
  WISHES[wish](detail);
  draw();
}

for (const wish of ANNOUNCED) document.addEventListener(wish, (/** @type {CustomEvent} */ { detail }) => act(wish, detail));
for (const name of ["list", "settings", "help"]) {
  const button = $(`button.${name}`);
  button.append(icon({ list: "list", settings: "sliders", help: "help" }[name]));
  button.addEventListener("click", () => act(name));
}
listenToKeys(KEYS, act, { capture: true }); // before the search field, which takes `/` for itself even where it is hidden

/** Opens or closes the list. If it has the focus when it closes, the focus moves to its button. */
function showList(open) {
  if (!open && problems.contains(document.activeElement)) listButton.focus();
  listOpen = open;
}

NARROW.addEventListener("change", () => {
  if (NARROW.matches) openIfWide = listOpen;
  showList(!NARROW.matches && openIfWide); // on a narrow page it would lie over the problem
  draw();
});

function seek() {
  listOpen = true;
  drawNow();
  problems.seek();
}

/** Asks for a problem. Only the server knows whether it exists, because a new list may be on its way. Without a
 *  connection, the greeting on the next one asks for it. */
function goTo(id) {
  socket.send({ type: "ui/openProblem", id });
}

function stored(name) {
  try {
    return sessionStorage.getItem(name) === "true";
  } catch {
    return false; // a webview may refuse its storage to scripts
  }
}

function store(name, value) {
  try {
    sessionStorage.setItem(name, String(value));
  } catch {
    // then a reload forgets it
  }
}

draw();
