// What the original relay does, without its logging: parse, check, serialise again, send to every other socket.
"use strict";

const { WebSocketServer, WebSocket } = require("ws");

const ANNOUNCE = { peerId: "string", role: "string", status: "string", version: "string", timestamp: "number" };
const sockets = new Set();
const announces = new Map(); // of those who are online, by socket

function isAnnounce(payload) {
  return payload && Object.entries(ANNOUNCE).every(([name, type]) => typeof payload[name] === type);
}

function broadcast(message, from) {
  const text = JSON.stringify(message);
  for (const socket of sockets) {
    if (socket !== from && socket.readyState === WebSocket.OPEN) socket.send(text);
  }
}

const server = new WebSocketServer({ host: "127.0.0.1", port: Number(process.argv[2]), perMessageDeflate: false });

server.on("connection", (socket) => {
  sockets.add(socket);
  socket.on("message", (data) => {
    let message;
    try {
      message = JSON.parse(data.toString());
    } catch {
      return;
    }
    if (!message || typeof message.component !== "string" || typeof message.type !== "string") return;
    if (message.component === "system" && message.type === "announce") {
      if (!isAnnounce(message.payload)) return;
      if (message.payload.status === "online") {
        for (const [other, announce] of announces) if (other !== socket) socket.send(JSON.stringify(announce));
        announces.set(socket, message);
      } else {
        announces.delete(socket);
      }
    }
    broadcast(message, socket);
  });
  socket.on("close", () => {
    sockets.delete(socket);
    announces.delete(socket);
  });
  socket.on("error", () => socket.terminate());
});
