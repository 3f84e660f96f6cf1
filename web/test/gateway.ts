// A gateway in place of fetch: answers from a table, and holds event streams
// open so that a test can write to them byte by byte.

import { vi } from "vitest";
import type { AgentSession, Call, Event } from "../src/api.gen";
import { sign } from "../src/proof";

export interface Asked {
  method: string;
  path: string;
  query: URLSearchParams;
  body: unknown;
  page: string | null; // the half that the request proves
  signed: string | null; // what a passkey said to it
}

const halves = ["page-half", "old-half", "new-half", "newer-half", "fresh-half"];

/** Which half made the proof, as the gateway finds out by the cookie. */
function provenBy(proof: string | null, method: string, target: string): string | null {
  const text = proof?.slice(0, proof.lastIndexOf(".")) ?? "";
  return halves.find((half) => sign(half, method, target, text) === proof) ?? null;
}

type Answer = { status?: number; body?: unknown } | "no answer";

export class Gateway {
  readonly asked: Asked[] = [];
  readonly streams: Stream[] = [];
  answers: Record<string, (q: Asked) => Answer | Promise<Answer>> = {};
  calls: Call[] = [];
  sessions: AgentSession[] = [];
  seq = 7;

  constructor() {
    vi.stubGlobal("fetch", (url: string, init: RequestInit) => this.#fetch(url, init));
    this.answers = {
      "GET /v1/status": () => ({ body: { version: "dev", you: { kind: "person", name: "Mira Okafor" }, seq: this.seq } }),
      "GET /v1/sessions": () => ({ body: { sessions: this.sessions } }),
      "GET /v1/calls": (q) => {
        const pending = q.query.get("state") === "pending";
        return { body: { calls: this.calls.filter((c) => (c.state === "pending") === pending), more: false, seq: this.seq } };
      },
    };
  }

  /** Requests with this method and path, oldest first. */
  to(route: string): Asked[] {
    return this.asked.filter((a) => `${a.method} ${a.path}` === route);
  }

  async #fetch(url: string, init: RequestInit): Promise<Response> {
    const { pathname, searchParams } = new URL(url, "http://127.0.0.1");
    const headers = new Headers(init.headers);
    const asked: Asked = {
      method: init.method ?? "GET",
      path: pathname,
      query: searchParams,
      body: init.body ? JSON.parse(String(init.body)) : undefined,
      signed: headers.get("X-Gatelatch-Signed"),
      page: provenBy(headers.get("X-Gatelatch-Page"), init.method ?? "GET", url),
    };
    this.asked.push(asked);
    const answer = await (this.answers[`${asked.method} ${pathname}`] ?? this.#other)(asked);
    if (answer === "no answer") throw new TypeError("Failed to fetch");
    if (answer.status !== undefined && answer.status >= 400) return reply(answer.status, answer.body);
    if (pathname === "/v1/events") {
      const stream = new Stream();
      this.streams.push(stream);
      return new Response(stream.readable as unknown as BodyInit, { headers: { "Content-Type": "text/event-stream" } });
    }
    return reply(answer.status ?? 200, answer.body);
  }

  #other = (q: Asked): Answer => {
    if (q.path === "/v1/events") return {};
    const call = this.calls.find((c) => q.path === `/v1/calls/${c.id}`);
    return call ? { body: call } : { status: 404, body: { code: "not_found", message: "no such call" } };
  };
}

function reply(status: number, body: unknown): Response {
  return new Response(JSON.stringify(body ?? {}), { status, headers: { "Content-Type": "application/json" } });
}

export class Stream {
  #to!: ReadableStreamDefaultController<Uint8Array>;
  readonly readable = new ReadableStream<Uint8Array>({ start: (c) => void (this.#to = c) });

  bytes(bytes: Uint8Array): void {
    this.#to.enqueue(bytes);
  }

  write(text: string): void {
    this.bytes(new TextEncoder().encode(text));
  }

  /** Events of one commit come together. */
  event(...events: (Partial<Event> & { seq: number; kind: string })[]): void {
    const full = events.map((e) => ({ at: "2026-01-02T03:04:05Z", by: { kind: "person" }, ...e }));
    this.write(full.map((e) => `id: ${e.seq}\nevent: ${e.kind}\ndata: ${JSON.stringify(e)}\n\n`).join(""));
  }

  end(): void {
    this.#to.close();
  }
}

export function refusal(status: number, code: string, more: object = {}): Answer {
  return { status, body: { code, message: `refused: ${code}`, ...more } };
}
