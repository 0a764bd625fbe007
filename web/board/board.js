/**
 * The board page: what scripts draw in one room.
 *
 *   socket -> stage -> document
 *          <- events and errors
 */

import { LiveSocket, notify } from "../house/house.js";
import "../house/bar.js";
import { choices } from "./exports.js";
import { announce } from "./presence.js";
import { Stage } from "./stage.js";
import "./menu.js";
import "./notes.js";
import "./peers.js";
import "./welcome.js";

const $ = (selector) => document.querySelector(selector);
const bar = $("house-bar");
const peers = $("board-peers");
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
  const named = `Room ${room}`;
  Object.assign($(".room"), { textContent: named, title: named, hidden: false });
  peers.room = named;
  document.title = `${room} · Sidekick`;
}
welcome.address = server + session;

// --- the connection

const socket = new LiveSocket(`${server}${session || "/"}`, { opening: () => announce("online") });
socket.addEventListener("message", ({ detail }) => stage.hear(detail));
socket.addEventListener("state", () => {
  bar.connection = socket.state;
  if (socket.state !== "live") peers.forget();
  if (socket.state === "waiting") stage.lose();
  greetLater();
});
window.addEventListener("pagehide", () => socket.send(announce("offline")));
bar.connection = socket.state;
$("house-banner").socket = socket;

// --- the board

function say(message) {
  if (socket.send(message)) return true;
  notify("Not connected: the script has not been told.");
  return false;
}

const stage = new Stage($("board-root"), {
  say,
  peers,
  notes: $("board-notes"),
  turned: greetLater,
});
$("board-menu").choices = choices(stage, room);

// --- the empty board

let greeting = null;

/** An empty board explains itself, once it is clear that it stays empty. */
function greetLater() {
  if (!stage.empty) {
    clearTimeout(greeting);
    greeting = null;
    welcome.hidden = true;
  } else if (greeting === null && socket.state === "live") {
    greeting = setTimeout(() => (welcome.hidden = false), 300);
  }
}
