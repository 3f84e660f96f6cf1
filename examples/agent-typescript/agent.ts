// A small agent. It asks the gateway which of its tools it may offer to its
// model, and then before each call. The model is whoever writes to its standard
// input, one message with tool calls a line:
//
//   {"id": "m1", "calls": [{"id": "c1", "tool": "Read", "input": {"file_path": "go.mod"}}]}
//
// It prints the tools that the model may call, then the result of each call.

import { execFile } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { parseArgs, promisify } from "node:util";
import { Gate, type Result } from "./gatelatch.ts";

const name = "agent-typescript";

const { values: flags } = parseArgs({
  options: {
    state: { type: "string", default: join(homedir(), ".local/state/gatelatch") },
    project: { type: "string", default: "." },
    session: { type: "string", default: `${name}-${Date.now()}` }, // names the conversation
  },
});
const project = resolve(flags.project);

type Fields = Record<string, string>;

// What this agent can do. None of it asks or checks anything: that is done
// before. Names and fields are Claude Code's, which a gateway's rules know.
const tools: Record<string, { fields: string[]; run: (f: Fields) => Promise<string> }> = {
  Read: { fields: ["file_path"], run: (f) => readFile(resolve(project, f["file_path"]!), "utf8") },
  Write: {
    fields: ["file_path", "content"],
    run: async (f) => {
      await writeFile(resolve(project, f["file_path"]!), f["content"]!);
      return "written";
    },
  },
  Bash: {
    fields: ["command"],
    run: async (f) => {
      const { stdout, stderr } = await promisify(execFile)("bash", ["-c", f["command"]!], { cwd: project });
      return stdout + stderr;
    },
  },
  Forget: { fields: [], run: async () => "forgotten" },
};

const say = (line: object) => process.stdout.write(`${JSON.stringify(line)}\n`);

const gate = new Gate(flags.state);
const may = new Set<string>();
const offered = Object.entries(tools).map(([tool, { fields }]) => ({
  name: tool,
  schema: { type: "object", properties: Object.fromEntries(fields.map((f) => [f, { type: "string" }])), required: fields },
  owner_only: tool === "Forget",
}));
for (const tool of await gate.tools(name, offered)) {
  may.add(tool.name);
  say({ tool: tool.name, schema: tool.schema });
}

// A tool that fails has that as its result.
async function run(tool: string, input: unknown) {
  try {
    return { ok: true, text: await tools[tool]!.run(input as Fields) };
  } catch (err) {
    return { ok: false, text: String(err) };
  }
}

interface Message {
  id: string;
  calls: { id: string; tool: string; input: unknown }[];
}

const session = { id: flags.session, name, project };
for await (const line of createInterface({ input: process.stdin })) {
  const message: Message = JSON.parse(line);
  const calls = message.calls.filter((c) => may.has(c.tool)).map((c) => ({ ref: c.id, tool: c.tool, input: c.input, dir: project }));
  const results = new Map<string, Result>();
  if (calls.length > 0) for (const r of await gate.run(session, message.id, calls, run)) results.set(r.ref, r);
  for (const { id } of message.calls) {
    const result = results.get(id) ?? { ref: id, text: "There is no such tool." };
    say({ call: id, ok: result.outcome === "done", text: result.text ?? "" });
  }
  if ([...results.values()].some((r) => r.interrupt)) break; // a person wants the turn to end here
}
