// An agent that asks before it acts, over a WebSocket, in the protocol that it
// is told. Usage: node agent.cjs PROTOCOL URL KEY DIR
//
// Each line on stdin is a call, {"id", "file"}: to make a file. It is made only
// after an allow. Each line on stdout tells what happened. A connection that is
// lost is made again, and what was not answered is asked again.
"use strict";
const fs = require("node:fs");
const path = require("node:path");
const readline = require("node:readline");
const WebSocket = require("ws");

const [protocol, url, key, dir] = process.argv.slice(2);
const tell = (what) => process.stdout.write(JSON.stringify(what) + "\n");
const open = new Map(); // calls that are not answered, by id
let socket, ready;

function settle(id, allowed, why) {
  const call = open.get(id);
  if (!call) return;
  open.delete(id);
  if (allowed) fs.writeFileSync(path.join(dir, call.file), "");
  tell({ id, allowed, why });
}

const command = (call) => "touch " + call.file;

const protocols = {
  control: {
    begin: () => {
      send({ type: "system", subtype: "init", session_id: "peer", cwd: dir, permissionMode: "default" });
      go();
    },
    ask: (call) =>
      send({
        type: "control_request",
        request_id: "req-" + call.id,
        request: { subtype: call.subtype || "can_use_tool", tool_name: "Bash", tool_use_id: call.id, input: { command: command(call) } },
      }),
    hear: (m) => {
      if (m.type === "control_request") {
        tell({ event: m.request.subtype });
        return send({ type: "control_response", response: { subtype: "success", request_id: m.request_id } });
      }
      const r = m.response;
      const id = r.request_id.replace("req-", "");
      if (r.subtype === "error") return settle(id, false, r.error);
      const call = open.get(id);
      // What was allowed is what runs.
      settle(id, r.response.behavior === "allow" && r.response.updatedInput.command === command(call), r.response.message);
    },
  },
  sema: {
    begin: () => go(),
    ask: (call) =>
      send({ event: call.subtype || "tool:permission:request", data: { agentId: "main", requestId: call.id, toolName: "Bash", title: command(call) } }),
    hear: (m) => settle(m.data.requestId, m.method === "respondToToolPermission" && m.data.selected === "agree", m.data.selected || m.data.error),
  },
  openclaw: {
    begin: () => {},
    ask: (call) =>
      send({
        type: "req",
        id: "q-" + call.id,
        method: call.subtype || "exec.approval.request",
        params: { id: call.id, command: command(call), cwd: dir, sessionKey: "peer", twoPhase: true },
      }),
    hear: (m) => {
      if (m.event === "connect.challenge") return send({ type: "req", id: "hello", method: "connect", params: { minProtocol: 4, maxProtocol: 4 } });
      if (m.id === "hello") return go();
      const id = m.id.replace("q-", "");
      if (!m.ok) return settle(id, false, m.error.message);
      if (m.payload.status === "accepted") return tell({ id, accepted: true });
      settle(id, m.payload.decision === "allow-once", m.payload.reason);
    },
  },
};

const speak = protocols[protocol];
const send = (m) => socket.send(JSON.stringify(m) + "\n");

function go() {
  ready = true;
  tell({ event: "open" });
  for (const call of open.values()) speak.ask(call);
}

function connect() {
  ready = false;
  socket = new WebSocket(url, { headers: { Authorization: "Bearer " + key } });
  socket.on("open", () => speak.begin());
  socket.on("message", (data) => {
    for (const line of data.toString().split("\n")) if (line) speak.hear(JSON.parse(line));
  });
  socket.on("error", () => {}); // close follows
  socket.on("close", () => {
    if (ready) tell({ event: "lost" });
    setTimeout(connect, 100);
  });
}

readline
  .createInterface({ input: process.stdin })
  .on("line", (line) => {
    const call = JSON.parse(line);
    open.set(call.id, call);
    if (ready) speak.ask(call);
  })
  .on("close", () => process.exit(0));
connect();
