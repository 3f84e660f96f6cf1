import { beforeEach, describe, expect, it, vi } from "vitest";
import { deadAfter, listen, Parser, type Message } from "../src/stream";
import { Gateway } from "./gateway";

const text = ': open\n\nid: 8\nevent: call.decided\ndata: {"seq":8}\n\n: beat\n\nevent: resync\ndata: {}\n\ndata: a\ndata:  b\n\n';
const messages: Message[] = [
  { id: "8", event: "call.decided", data: '{"seq":8}' },
  { id: "", event: "resync", data: "{}" },
  { id: "", event: "", data: "a\n b" },
];

describe("Parser", () => {
  it("gives the same messages wherever the text is cut", () => {
    for (let cut = 0; cut <= text.length; cut++) {
      const parser = new Parser();
      expect([...parser.feed(text.slice(0, cut)), ...parser.feed(text.slice(cut))]).toEqual(messages);
    }
  });

  it("takes the text a character at a time, and lines that end with CR LF", () => {
    const parser = new Parser();
    expect([...text.replaceAll("\n", "\r\n")].flatMap((c) => parser.feed(c))).toEqual(messages);
  });

  it("gives nothing before a message is whole", () => {
    expect(new Parser().feed('event: x\ndata: {"seq":9}\n')).toEqual([]);
  });
});

describe("listen", () => {
  let gateway: Gateway;
  const on = { open: vi.fn(), message: vi.fn() };
  const settle = () => vi.advanceTimersByTimeAsync(0);

  beforeEach(() => {
    gateway = new Gateway();
    on.open.mockReset();
    on.message.mockReset();
  });

  it("asks for what is behind the given event, proving the page's half of the session", async () => {
    void listen(41, new AbortController().signal, on).catch(() => {});
    await settle();
    expect(on.open).toHaveBeenCalledOnce();
    const [asked] = gateway.to("GET /v1/events");
    expect(asked?.query.get("after")).toBe("41");
    expect(asked?.page).toBe("page-half");
  });

  it("puts characters together that arrive in halves", async () => {
    void listen(0, new AbortController().signal, on).catch(() => {});
    await settle();
    const bytes = new TextEncoder().encode("data: ⟨ü\n\n");
    for (const byte of bytes) {
      gateway.streams[0]!.bytes(Uint8Array.of(byte));
      await settle();
    }
    expect(on.message).toHaveBeenCalledExactlyOnceWith({ id: "", event: "", data: "⟨ü" });
  });

  it("gives up after a silence, but not while there are heartbeats", async () => {
    const end = vi.fn();
    void listen(0, new AbortController().signal, on).then(end, end);
    await settle();
    for (let i = 0; i < 4; i++) {
      await vi.advanceTimersByTimeAsync(deadAfter - 1);
      gateway.streams[0]!.write(": beat\n\n");
      await settle();
    }
    expect(end).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(deadAfter);
    expect(end).toHaveBeenCalledOnce();
  });

  it("ends when the gateway ends it, and when it is told to", async () => {
    const ended = listen(0, new AbortController().signal, on);
    await settle();
    gateway.streams[0]!.end();
    await expect(ended).resolves.toBeUndefined();

    const stop = new AbortController();
    const stopped = listen(0, stop.signal, on);
    await settle();
    stop.abort();
    await expect(stopped).rejects.toBeDefined();
  });
});
