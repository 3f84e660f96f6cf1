// An MCP client on the official SDK that asks the prompt tool. Usage:
//   node mcp.cjs http URL KEY
//   node mcp.cjs stdio COMMAND ARGS…
//
// Each line on stdin is a call, {"id", "command"}, or {"cancel": id}. Each line
// on stdout tells what came of one. A server that is gone is connected to again
// for the next call.
"use strict";
const readline = require("node:readline");
const { Client } = require("@modelcontextprotocol/sdk/client/index.js");
const { StdioClientTransport } = require("@modelcontextprotocol/sdk/client/stdio.js");
const { StreamableHTTPClientTransport } = require("@modelcontextprotocol/sdk/client/streamableHttp.js");

const [kind, where, ...rest] = process.argv.slice(2);
const tell = (what) => process.stdout.write(JSON.stringify(what) + "\n");
const cancels = new Map();

async function connect() {
  const client = new Client({ name: "peer", version: "1.0.0" });
  const transport =
    kind === "stdio"
      ? new StdioClientTransport({ command: where, args: rest, stderr: "inherit" })
      : new StreamableHTTPClientTransport(new URL(where), { requestInit: { headers: { Authorization: "Bearer " + rest[0] } } });
  await client.connect(transport);
  const { tools } = await client.listTools();
  tell({ tools: tools.map((t) => t.name) });
  return client;
}

let client = connect();

async function call({ id, command, timeout }) {
  const cancel = new AbortController();
  cancels.set(id, cancel);
  let progress = 0;
  try {
    const result = await (await client).callTool(
      { name: "approve", arguments: { tool_name: "Bash", input: { command }, tool_use_id: id } },
      undefined,
      { signal: cancel.signal, timeout: timeout || 60000, resetTimeoutOnProgress: true, onprogress: () => progress++ },
    );
    tell({ id, progress, result: JSON.parse(result.content[0].text) });
  } catch (err) {
    tell({ id, progress, error: String(err.message) });
    if (!cancel.signal.aborted) {
      client = connect();
      client.catch(() => {});
    }
  }
}

readline
  .createInterface({ input: process.stdin })
  .on("line", (line) => {
    const m = JSON.parse(line);
    if (m.cancel) cancels.get(m.cancel).abort("not needed any more");
    else call(m);
  })
  .on("close", async () => {
    await (await client).close();
    process.exit(0);
  });
