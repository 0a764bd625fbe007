/**
 * The board page: it shows what scripts draw in one room.
 *
 *   socket -> stage -> document
 *          <- events and errors
 */

import { LiveSocket, notify } from "../house/house.js";
import "../house/bar.js";
import { askToClear } from "./clear.js";
import { choices } from "./exports.js";
import { announce, CLEAR, FOLLOW } from "./presence.js";
import { Stage } from "./stage.js";
import "./menu.js";
import "./notes.js";
import "./peers.js";
import "./rooms.js";
import "./standing.js";
import "./welcome.js";

/** @import { Board } from "../messages" */

const $ = (selector) => document.querySelector(selector);
const bar = $("house-bar");
const peers = $("board-peers");
const standing = $("board-standing");
const welcome = $("board-welcome");

// --- which room

const DEFAULT = "default"; // the room of scripts and pages that name none
const room = roomOf(location);
const server = `${location.protocol === "https:" ? "wss:" : "ws:"}//${location.host}`;
const session = room === null ? "" : `session=${encodeURIComponent(room)}`;

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
  const named = `Room ${room}`;
  Object.assign($(".room"), { textContent: named, title: named, hidden: false });
  peers.room = named;
  document.title = `${room} · Sidekick`;
}
welcome.address = server + (session && `/?${session}`);
$("board-rooms").here = welcome.here = room === null || room === DEFAULT ? "/" : `/session/${room}`;

// --- the connection

// With bundles, what is sent together comes as one message, an array: a browser takes its time for each message.
const bundles = [session, "bundles=1"].filter(Boolean).join("&");
const socket = new LiveSocket(`${server}/?${bundles}`, { opening: () => [announce("online"), FOLLOW] });
socket.addEventListener("message", (/** @type {CustomEvent} */ { detail }) => {
  for (const message of Array.isArray(detail) ? detail : [detail]) {
    if (message?.component === "board" && message.type === "state") hearState(message.payload);
    else stage.hear(message);
  }
});
socket.addEventListener("state", () => {
  bar.connection = socket.condition;
  if (socket.state !== "live") {
    peers.forget();
    standing.state = null;
    stage.ended = false;
  }
  if (socket.state === "waiting") stage.lose();
  greetLater();
});
window.addEventListener("pagehide", () => socket.send(announce("offline")));
bar.connection = socket.condition;
$("house-banner").socket = socket;

// --- the board

/** @param {Board.Event | Board.Fault} message */
function say(message) {
  if (standing.ended && message.type === "event" && socket.state === "live") return false;
  if (socket.send(message)) return true;
  notify("Not connected: the script has not been told.");
  return false;
}

const stage = new Stage($("board-root"), {
  say,
  peers,
  notes: $("board-notes"),
  turned,
  unheard: () => (standing.ended ? standing.sentence : ""),
});
$("board-menu").choices = [...choices(stage, room), ["Clear board…", clear]];

/** @param {Board.BoardState} state */
function hearState(state) {
  standing.state = state;
  welcome.scripts = state.scripts;
  stage.ended = standing.ended;
  greetLater();
}

function turned() {
  standing.empty = stage.empty;
  stage.ended = standing.ended;
  greetLater();
}

async function clear() {
  if (stage.empty) notify("There is nothing on the board.");
  else if (await askToClear(standing.scripts ?? 0)) {
    notify(socket.send(CLEAR) ? "The board is cleared." : "Not connected: the board was not cleared.");
  }
}

// --- the empty board

let greeting = null;

/** Shows the welcome on an empty board, once it is clear that the board stays empty. */
function greetLater() {
  if (!stage.empty || standing.showing) {
    clearTimeout(greeting);
    greeting = null;
    welcome.shown = false;
  } else if (greeting === null && socket.state === "live") {
    greeting = setTimeout(() => (welcome.shown = true), 300);
  }
}
