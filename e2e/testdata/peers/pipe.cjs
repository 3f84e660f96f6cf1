// Passes lines on: from stdin to a WebSocket, and from there to stdout. Usage:
// node pipe.cjs URL KEY
"use strict";
const readline = require("node:readline");
const WebSocket = require("ws");

const [url, key] = process.argv.slice(2);
const socket = new WebSocket(url, { headers: { Authorization: "Bearer " + key } });
socket.on("message", (data) => process.stdout.write(data));
socket.on("error", (err) => {
  process.stderr.write(err.message + "\n");
  process.exit(1);
});
socket.on("close", () => process.exit(2));
socket.on("open", () => {
  readline
    .createInterface({ input: process.stdin })
    .on("line", (line) => socket.send(line))
    .on("close", () => process.exit(0));
});
