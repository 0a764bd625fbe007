/**
 * The board page: what scripts draw in one room.
 *
 *   socket -> inbox (once a frame) -> scene -> document
 *                                  <- events and errors
 *
 * Rules
 *   - The server shows a page that comes, or comes back, the whole board after a clearAll. So does a script that starts
 *     again. Each clearAll begins a new scene out of sight; it takes the place of the old one when no more messages
 *     come, or after `HOLD`. Nothing blinks, and what the reader has unfolded, scrolled or begun to write stays.
 *   - Everything else is applied to the newest scene, in the order of arrival.
 */

import { LiveSocket, notify } from "../house/house.js";
import "../house/bar.js";
import { Inbox } from "./inbox.js";
import { picture } from "./picture.js";
import { Scene } from "./scene.js";
import "./menu.js";
import "./notes.js";
import "./peers.js";
import "./welcome.js";

const VERSION = "0.1.0";
const HOLD = 150; // milliseconds; a script may clear and draw all the time
const HOLD_AFTER_LOSS = 2000; // the whole board may be long

const $ = (selector) => document.querySelector(selector);
const bar = $("house-bar");
const peers = $("board-peers");
const notes = $("board-notes");
const welcome = $("board-welcome");

// --- which room

const room = roomOf(location);
const server = `${location.protocol === "https:" ? "wss:" : "ws:"}//${location.host}`;
const session = room === null ? "" : `/?session=${encodeURIComponent(room)}`;

/** `/session/ID` or `?session=ID`; null is the default room. */
function roomOf({ pathname, search }) {
  const id = /^\/session\/([^/]+)\/?$/.exec(pathname)?.[1];
  if (id === undefined) return new URLSearchParams(search).get("session");
  try {
    return decodeURIComponent(id);
  } catch {
    return id;
  }
}

if (room !== null) {
  $(".room").textContent = `Room ${room}`;
  $(".room").hidden = false;
  document.title = `${room} · Sidekick`;
}
welcome.address = server + session;

// --- the connection

/** Not randomUUID, which a page has only on a secure origin: a classroom's server may be plain http. */
const peerId = Array.from(crypto.getRandomValues(new Uint32Array(4)), (part) => part.toString(36)).join("-");

function announce(status) {
  const payload = { peerId, role: "sidekick", status, version: VERSION, timestamp: Date.now() };
  return { id: 0, component: "system", type: "announce", payload };
}

const socket = new LiveSocket(`${server}${session || "/"}`, { opening: () => announce("online") });
socket.addEventListener("message", ({ detail }) => inbox.add(detail));
socket.addEventListener("state", () => {
  bar.connection = socket.state;
  if (socket.state !== "live") peers.forget();
  if (socket.state === "waiting") returning = true;
  greetLater();
});
window.addEventListener("pagehide", () => socket.send(announce("offline")));
bar.connection = socket.state;
$("house-banner").socket = socket;

// --- scenes

const surroundings = {
  say: (message) => socket.send(message) || notify("Not connected: the script has not been told."),
  note: (text) => notes.add(text),
  wake: () => inbox.wake(),
};
const inbox = new Inbox(hear, turn);
let shown = new Scene(surroundings, $("board-root"));
let coming = null; // the scene that is being built
let comingBy = 0; // when it is shown at the latest
let returning = false; // the connection was lost, and the board has not been shown anew

function hear(message) {
  if (message === null || typeof message !== "object") return;
  const { component, type, payload } = message;
  if (component === "system" && type === "announce") peers.hear(payload ?? {});
  else if (component === "global" && type === "clearAll") begin();
  else (coming ?? shown).apply(message);
}

function begin() {
  if (!coming) comingBy = performance.now() + (returning ? HOLD_AFTER_LOSS : HOLD);
  coming = new Scene(surroundings);
  notes.clear();
}

function turn(quiet) {
  if (coming && (quiet || performance.now() > comingBy)) {
    coming.replace(shown);
    shown = coming;
    coming = null;
    returning = false;
  }
  if (coming) inbox.wake();
  shown.paint();
  greetLater();
}

// --- the empty board

let greeting = null;

/** An empty board explains itself, once it is clear that it stays empty. */
function greetLater() {
  const empty = shown.size === 0 && coming === null;
  if (!empty) {
    clearTimeout(greeting);
    greeting = null;
    welcome.hidden = true;
  } else if (greeting === null && socket.state === "live") {
    greeting = setTimeout(() => (welcome.hidden = false), 300);
  }
}

// --- exports

function save(blob, ending) {
  const link = document.createElement("a");
  const url = URL.createObjectURL(blob);
  link.href = url;
  link.download = `board-${new Date().toISOString().slice(0, 19).replaceAll(":", "-")}.${ending}`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

function savePicture() {
  picture(shown.root).toBlob((blob) => (blob ? save(blob, "png") : notify("The board is too large for a picture.")));
}

function saveState() {
  const board = { room, saved: new Date().toISOString(), components: shown.state() };
  save(new Blob([JSON.stringify(board, null, 2)], { type: "application/json" }), "json");
}

$("board-menu").choices = [["Export as PNG", savePicture], ["Export as JSON", saveState]];
