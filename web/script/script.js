/**
 * The script page: a script that runs in this browser, and the board it draws on.
 *
 *   editor -> runner -> worker with Pyodide
 *             runner <-> stage -> document      no server in between
 *
 * The page does for its script what the server does for other scripts: it is online as soon as the script runs, it
 * answers the script's announce, and it makes a submitted text the value of the text box.
 */

import { h, icon, mark, notify, put, turn } from "../house/house.js";
import "../house/bar.js";
import { understood } from "../board/dialect.js";
import { choices } from "../board/exports.js";
import { announce } from "../board/presence.js";
import { Stage } from "../board/stage.js";
import "../board/menu.js";
import "../board/notes.js";
import "../board/peers.js";
import { Runner } from "./runner.js";
import "./editor.js";
import "./output.js";

const KEPT = "troupe.script"; // where the draft of the script without a name is kept
const SAMPLE = `import sidekick

def paint(event):
    grid.set_color(event.x, event.y, "gold")

grid = sidekick.Grid(8, 8, on_click=paint)
grid.set_color(3, 4, "tomato")
print("Click a cell.")
`;
const LARGEST = 1_000_000; // characters of a file that is opened

/** state: [sign, tone, words] */
const WORDS = {
  off: ["ring", "idle", "Python is not available"],
  loading: ["half", "info", "Python is being loaded…"],
  ready: ["ring", "idle", "Ready"],
  running: ["disc", "good", "Running"],
  ended: ["square", "idle", "Ended"],
  failed: ["alarm", "bad", "Failed"],
  stopping: ["block", "idle", "Stopping…"],
  stopped: ["square", "idle", "Stopped"],
  broken: ["alarm", "bad", "Python could not be loaded"],
};

const $ = (selector) => document.querySelector(selector);
const editor = $("code-editor");
const output = $("run-output");
const peers = $("board-peers");
const [runButton, stopButton] = [$("button.run"), $("button.stop")];
const sign = icon("ring");
const words = h("span");

$(".state").append(sign, words);
runButton.append(icon("play"), "Run");
stopButton.append(icon("square"), "Stop");
runButton.title = "Ctrl+Enter";

// --- which script

const id = idOf(location.pathname);
let name = id === null ? "script.py" : `${id}.py`;
let kept = id === null; // whether this browser keeps the text of the editor
if (id !== null) document.title = `${id} · Sidekick`;

function idOf(path) {
  const found = /^\/script\/(.+?)(?:\.py)?$/.exec(path)?.[1] ?? null;
  try {
    return found === null ? null : decodeURIComponent(found);
  } catch {
    return found;
  }
}

async function load() {
  if (id === null) {
    editor.source = draft() ?? SAMPLE;
    return;
  }
  const answer = await fetch(`/scripts/${id.split("/").map(encodeURIComponent).join("/")}.py`);
  if (answer.ok) editor.source = await answer.text();
  else warn(`${name} could not be read: the server answered ${answer.status}.`);
}

function draft() {
  try {
    return localStorage.getItem(KEPT);
  } catch {
    return null; // a sandboxed webview may refuse its storage
  }
}

function keep(source) {
  try {
    localStorage.setItem(KEPT, source);
  } catch {
    // as above: then the draft lasts as long as the page
  }
}

editor.addEventListener("change", ({ detail }) => kept && detail !== undefined && keep(detail));

// --- other scripts

const file = $("input.file");
$("button.open").onclick = () => file.click();
file.onchange = async () => {
  const [chosen] = file.files;
  file.value = "";
  if (!chosen) return;
  if (chosen.size > LARGEST) {
    notify(`${chosen.name} has ${chosen.size} bytes, and a script may have ${LARGEST}: is it the right file?`);
    return;
  }
  editor.source = await chosen.text();
  name = chosen.name;
  kept = false;
};

function list(scripts) {
  const select = $("select.scripts");
  const here = id ?? "";
  const known = here === "" || scripts.includes(here) ? scripts : [here, ...scripts];
  const option = (value, text = value) => h("option", { value }, text);
  select.replaceChildren(option("", "New script"), ...known.map((one) => option(one)));
  select.value = here;
  select.hidden = scripts.length === 0;
  select.onchange = () => {
    location.href = select.value ? `/script/${select.value.split("/").map(encodeURIComponent).join("/")}` : "/script";
  };
}

function warn(text) {
  $(".warnings").append(h("p.note", {}, icon("alarm"), h("span", {}, text)));
}

// --- the board

const stage = new Stage($("board-root"), { say, peers, notes: $("board-notes"), turned: show });
$("board-menu").choices = choices(stage, null);

/** Sends the reader's input to the script. A submitted text becomes the value of its text box, as with a server. */
function say(message) {
  if (!runner?.say(message)) {
    notify("No script is running, so nothing was sent.");
    return false;
  }
  const { component, src, type, payload } = message;
  if (type !== "event" || component !== "textbox") return true;
  const options = { value: payload.value };
  stage.hear({ id: 0, component, type: "update", target: src, payload: { action: "setValue", options } });
  return true;
}

/** Hands a message of the script to the board. */
function hear(text) {
  const message = understood(text);
  if (message === null) {
    const payload = { message: "The script said something that is not JSON." };
    stage.hear({ component: "system", type: "error", payload });
    return;
  }
  stage.hear(message);
  if (message.component !== "system" || message.payload?.role !== "hero") return;
  if (message.payload.status === "online") {
    heroes.set(message.payload.peerId, message);
    runner.say(announce("online"));
  } else heroes.delete(message.payload.peerId);
}

const heroes = new Map(); // peerId -> its announce

function forgetHeroes() {
  for (const message of heroes.values()) {
    stage.hear({ ...message, payload: { ...message.payload, status: "offline" } });
  }
  heroes.clear();
}

// --- the run

let runner = null;

function run() {
  if (!runner?.canRun) return;
  output.clear();
  editor.point(null);
  runner.run(editor.source, name);
}

function follow() {
  const { state, error } = runner;
  if (state === "running") {
    stage.hear({ id: 0, component: "global", type: "clearAll" });
    runner.say(announce("online"));
  }
  if (["loading", "stopped", "broken"].includes(state)) forgetHeroes();
  if (state === "failed") {
    output.traceback = error;
    editor.point(lineOf(error));
  }
  if (state === "broken") output.traceback = error;
  show();
}

function lineOf(traceback) {
  const quoted = name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const found = [...traceback.matchAll(new RegExp(`File "${quoted}", line (\\d+)`, "g"))].at(-1);
  return found ? Number(found[1]) : null;
}

function show() {
  const state = runner?.state ?? "off";
  const [shape, tone, text] = WORDS[state];
  const listening = (state === "ended" || state === "failed") && peers.heroes.length > 0;
  turn(sign, shape);
  mark($(".state"), "data-tone", tone);
  put(words, listening ? `${text}; the board still answers` : text);
  const stopping = document.activeElement === stopButton;
  runButton.disabled = !runner?.canRun;
  stopButton.disabled = !runner?.canStop;
  if (stopping && stopButton.disabled) runButton.focus(); // the disabled button loses the focus
  const empty = $("house-empty");
  empty.hidden = !stage.empty;
  if (runner) empty.say("Nothing is drawn yet", "What the script draws appears here.");
}

editor.addEventListener("run", run);
runButton.onclick = run;
stopButton.onclick = () => {
  runner.say(announce("offline"));
  runner.stop();
};
window.addEventListener("pagehide", () => runner?.stop());

// --- the beginning

async function begin() {
  const [answer] = await Promise.all([fetch("/scripts"), load()]);
  const { address, wheel, trouble, warnings, scripts } = await answer.json();
  list(scripts);
  warnings.forEach(warn);
  if (trouble) $("house-empty").say("Scripts cannot run here yet", trouble);
  else {
    runner = new Runner({ address, wheel });
    runner.addEventListener("state", follow);
    runner.addEventListener("output", (/** @type {CustomEvent} */ { detail }) => output.print(detail));
    runner.addEventListener("hero", (/** @type {CustomEvent} */ { detail }) => hear(detail));
    runner.load();
  }
  show();
}

begin();
