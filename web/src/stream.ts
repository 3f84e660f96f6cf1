// The event stream, by fetch: EventSource cannot send the page's secret.

import { send } from "./api";

/** No byte for this long, heartbeats included, means that the connection is dead. */
export const deadAfter = 40_000;

export interface Message {
  id: string;
  event: string;
  data: string;
}

/** Parser takes text in pieces, cut anywhere, and gives whole messages. */
export class Parser {
  #rest = "";
  #message: Message = { id: "", event: "", data: "" };
  #data: string[] = [];

  feed(text: string): Message[] {
    const lines = (this.#rest + text).split("\n");
    this.#rest = lines.pop() ?? "";
    return lines.flatMap((line) => this.#line(line.endsWith("\r") ? line.slice(0, -1) : line));
  }

  #line(line: string): Message[] {
    if (line === "") {
      const done = { ...this.#message, data: this.#data.join("\n") };
      const empty = this.#data.length === 0 && done.event === "";
      this.#message = { id: "", event: "", data: "" };
      this.#data = [];
      return empty ? [] : [done];
    }
    const colon = line.indexOf(":");
    const name = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (name === "data") this.#data.push(value);
    else if (name === "id" || name === "event") this.#message[name] = value;
    return []; // a line that starts with a colon is a heartbeat
  }
}

/**
 * Reads events behind seq until the stream ends. Rejects when it could not be
 * opened, broke, fell silent, or a handler threw.
 */
export async function listen(
  seq: number,
  signal: AbortSignal,
  on: { open: () => void; message: (m: Message) => void },
): Promise<void> {
  const silence = new AbortController();
  let timer = setTimeout(() => silence.abort(), deadAfter);
  const ends = new AbortController();
  const both = AbortSignal.any([signal, silence.signal, ends.signal]);
  try {
    const response = await send("Events", { query: { after: seq }, signal: both });
    on.open();
    const reader = response.body!.getReader();
    // Not every stream gives up a pending read when its request is aborted.
    const cut = new Promise<never>((_, fail) => both.addEventListener("abort", () => fail(both.reason)));
    const decoder = new TextDecoder();
    const parser = new Parser();
    for (;;) {
      const { done, value } = await Promise.race([reader.read(), cut]);
      if (done) return;
      clearTimeout(timer);
      timer = setTimeout(() => silence.abort(), deadAfter);
      for (const m of parser.feed(decoder.decode(value, { stream: true }))) on.message(m);
    }
  } finally {
    clearTimeout(timer);
    ends.abort();
  }
}
