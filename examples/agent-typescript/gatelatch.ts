// The gateway as an agent sees it. Needs Node's own modules only.

import { randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { request } from "node:http";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";

export interface Tool {
  name: string;
  schema?: unknown;
  owner_only?: boolean;
}

export interface ProposedCall {
  ref: string;
  tool: string;
  input: unknown;
  dir?: string;
}

interface Call extends ProposedCall {
  id: string;
  state: string;
  digest: string;
  consumed?: boolean;
}

interface Batch {
  id: string;
  opened?: { fence: number };
  calls: Call[];
}

export interface Result {
  ref: string;
  outcome?: "done" | "failed" | "unknown";
  text?: string;
  interrupt?: boolean;
}

interface Problem {
  code: string;
  message: string;
}

/** A problem that the gateway answered with. Programs go by its code. */
export class Refused extends Error {
  readonly code: string;
  constructor(problem: Problem) {
    super(problem.message);
    this.code = problem.code;
  }
}

/** A gateway, found by its state directory. */
export class Gate {
  readonly state: string;
  /** Milliseconds that it may be away, for a restart. */
  patience = 60_000;

  constructor(state: string) {
    this.state = state;
  }

  /** The tools that the agent may offer to its model. */
  async tools(agent: string, tools: Tool[]): Promise<Tool[]> {
    return (await this.ask<{ tools: Tool[] }>("/v1/tools", { agent, tools })).answer.tools;
  }

  /**
   * Has the calls of one model message settled, runs what was allowed in order,
   * and returns the results of all. The same message again gives the same
   * results: nothing runs twice.
   */
  async run(
    session: { id: string; name?: string; project?: string },
    message: string,
    calls: ProposedCall[],
    tool: (name: string, input: unknown) => Promise<{ ok: boolean; text: string }>,
  ): Promise<Result[]> {
    const { answer: proposed } = await this.ask<Batch>("/v1/batches", { session, message, calls });
    const path = `/v1/batches/${proposed.id}`;
    const batch = await this.#hold(path);
    if (!batch) return (await this.ask<{ results: Result[] }>(`${path}/results`)).answer.results;
    const fence = batch.opened!.fence;
    for (const { id, state, digest, consumed } of batch.calls) {
      if (state !== "allowed" || consumed) continue; // its result is why not, or that nobody knows how it ended
      const call = await this.#consume(path, { call: id, digest, fence, nonce: secret() });
      if (!call) continue;
      const { ok, text } = await tool(call.tool, call.input);
      await this.ask("/v1/reports", { batch: batch.id, call: id, fence, ok, text: text.slice(0, 20_000) });
    }
    return (await this.ask<{ results: Result[] }>(`${path}/finish`, { fence })).answer.results;
  }

  /** Waits until every call is settled. null: an earlier attempt ran them. */
  async #hold(path: string): Promise<Batch | null> {
    const hold = { holder: secret() }; // names this attempt
    for (;;) {
      try {
        const { status, answer } = await this.ask<Batch>(`${path}/await`, { hold });
        if (status === 200) return answer;
      } catch (err) {
        if (refusedAs(err, "finished")) return null;
        if (!refusedAs(err, "opened")) throw err;
        await sleep(1000); // the attempt before this one: its lease will end
      }
    }
  }

  /** Uses an allow: only then may the call run. null: it was taken back meanwhile. */
  async #consume(path: string, take: object): Promise<Call | null> {
    try {
      return (await this.ask<Call>(`${path}/consume`, take)).answer;
    } catch (err) {
      if (refusedAs(err, "settled", "lapsed")) return null;
      throw err;
    }
  }

  /** Asks until there is an answer: every request may be sent again. */
  async ask<Out>(path: string, body?: unknown): Promise<{ status: number; answer: Out }> {
    let gone = Date.now() + this.patience;
    for (let pause = 50; ; pause = Math.min(2 * pause, 2000)) {
      const began = Date.now();
      const got = await this.#once(path, body).catch((error: Error) => ({ status: 503, answer: undefined, error }));
      if (got.status < 400) return got as { status: number; answer: Out };
      if (Date.now() - began > 5000) gone = Date.now() + this.patience; // it was there until now
      if (got.status !== 503 || Date.now() > gone) throw "error" in got ? got.error : new Refused(got.answer as Problem);
      await sleep(pause * (0.5 + Math.random() / 2));
    }
  }

  async #once(path: string, body?: unknown): Promise<{ status: number; answer: unknown }> {
    // Where it listens is looked up each time: it may have moved.
    const where = JSON.parse(await readFile(join(this.state, "run", "gateway.json"), "utf8"));
    const key = (await readFile(join(this.state, "agent.key"), "utf8")).trim();
    return new Promise((resolve, reject) => {
      const method = body === undefined ? "GET" : "POST";
      const headers = { Host: "gatelatch.sock", Authorization: `Bearer ${key}`, "Content-Type": "application/json" };
      const asked = request({ socketPath: where.agent_socket, path, method, headers }, (response) => {
        let text = "";
        response.setEncoding("utf8");
        response.on("data", (more: string) => (text += more));
        response.on("error", reject);
        response.on("end", () => {
          try {
            resolve({ status: response.statusCode!, answer: JSON.parse(text) });
          } catch (err) {
            reject(err); // it was cut off
          }
        });
      });
      asked.on("error", reject);
      asked.end(body === undefined ? undefined : JSON.stringify(body));
    });
  }
}

const secret = () => randomBytes(16).toString("hex");

const refusedAs = (err: unknown, ...codes: string[]) => err instanceof Refused && codes.includes(err.code);
