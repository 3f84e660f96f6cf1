// Keeps the lists as the gateway has them: load once, then follow its events.
// An event only says which call to look at again.

import { batch, effect } from "@preact/signals";
import { ApiError, ask } from "./api";
import type { Call, Calls, Event } from "./api.gen";
import { readGrants } from "./grants/store";
import { pageSize, putPast, setPast } from "./history/store";
import { putMode, readModes } from "./modes/store";
import { calls, current, drop, put, putAll, tellNews } from "./queue/store";
import { isSettled, link, place, status } from "./state";
import { firstCalls } from "./request";
import { listen, type Message } from "./stream";

const firstPause = 300;
const longestPause = 5_000;
/** A connection that held this long was a good one: the next pause is short again. */
const heldWell = 5_000;

/** A rule file that broke is no event: it is seen by asking now and then. */
const statusEvery = 30_000;

/** Follows the gateway until the returned function is called, or the session ends. */
export function follow(): () => void {
  const stop = new AbortController();
  void run(stop.signal);
  const timer = setInterval(() => link.value === "live" && void readStatus(), statusEvery);
  return () => {
    clearInterval(timer);
    stop.abort();
  };
}

async function run(signal: AbortSignal): Promise<void> {
  const looker = new Looker(signal);
  const stop = effect(() => {
    const call = current.value;
    if (call?.brief && link.peek() === "live") looker.look(call.id);
  });
  signal.addEventListener("abort", stop);
  let seq: number | null = null;
  let failures = 0;
  let opened = Infinity;
  while (!signal.aborted) {
    try {
      if (seq === null) seq = await load(looker, signal);
      await listen(seq, signal, {
        open: () => {
          opened = Date.now();
          if (link.value === "lost") void Promise.all([readStatus(), readModes(), place.value.path === "/rules" && readGrants()]);
          link.value = "live";
        },
        message: (m) => (seq = take(m, looker)),
      });
    } catch (err) {
      if (signal.aborted || (err instanceof ApiError && err.status === 401)) break;
      if (err instanceof Resync) seq = null;
    }
    if (signal.aborted) break;
    link.value = "lost";
    if (Date.now() - opened >= heldWell) failures = 0;
    opened = Infinity;
    await pause(Math.min(longestPause, firstPause * 2 ** failures++), signal);
  }
  if (link.value === "live") link.value = "connecting";
}

/** The gateway cannot tell us all that we missed: read the lists anew. */
class Resync extends Error {}

function take(m: Message, looker: Looker): number {
  if (m.event === "resync") throw new Resync();
  const event = JSON.parse(m.data) as Event;
  if (event.call) looker.look(event.call);
  if (event.kind.startsWith("gate.") || event.kind.startsWith("agent.")) void readStatus();
  if (event.kind === "mode.chosen") void readModes();
  // A use is no event of its own: it comes with the call that it allowed.
  if (place.value.path === "/rules" && /^(grant\.|call\.judged)/.test(event.kind)) void readGrants();
  return event.seq;
}

async function readStatus(): Promise<void> {
  try {
    status.value = await ask("Status", {});
  } catch {
    // A lost connection shows by itself, and reconnecting reads the status again.
  }
}

/** How many calls are read at once behind the first part, which is shown before the rest is there. */
const otherPart = 500;

/** The first card is in the first answer. A link that names another call is asked for beside it. */
async function load(looker: Looker, signal: AbortSignal): Promise<number> {
  const { path, open } = place.peek();
  const before = [...calls.peek().keys()];
  const [first, state, named] = await Promise.all([
    ask("Calls", { query: firstCalls, signal }),
    ask("Status", { signal }),
    path === "/" && open ? ask("Call", { params: { id: open }, signal }).catch(() => null) : null,
  ]);
  batch(() => {
    status.value = state;
    first.calls.forEach(putMode);
    putAll(first.calls);
    if (named) putCall(named);
  });
  tellNews();
  await readWhole(signal);
  void painted().then(() => loadRest(first, before, looker, signal));
  return first.seq;
}

/** A row is not enough for a card: the one in focus is read whole. */
async function readWhole(signal: AbortSignal): Promise<void> {
  const call = current.peek();
  if (call?.brief) putCall(await ask("Call", { params: { id: call.id }, signal }));
}

/** Waits until what is known is on the screen, or would be if the page were in view. */
export function painted(): Promise<void> {
  if (document.hidden) return Promise.resolve();
  return new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
}

/** What is not needed for the first card. What changes meanwhile is in the stream. */
async function loadRest(first: Calls, before: readonly string[], looker: Looker, signal: AbortSignal): Promise<void> {
  const modes = async () => (await ask("Sessions", { signal })).sessions.forEach(putMode);
  const settled = async () => setPast(await ask("Calls", { query: { state: "settled", limit: pageSize }, signal }));
  await Promise.all([insist(modes, signal), insist(settled, signal), insist(() => loadPending(first, before, looker, signal), signal)]);
}

/** Tries until it works, or nobody wants it any more. */
async function insist(what: () => Promise<void>, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      return await what();
    } catch (err) {
      if (err instanceof ApiError && err.status === 401) return;
      await pause(longestPause, signal);
    }
  }
}

/** The calls behind the first part; then looks at those that were known before and wait no more. */
async function loadPending(first: Calls, before: readonly string[], looker: Looker, signal: AbortSignal): Promise<void> {
  const listed = new Set(first.calls.map((c) => c.id));
  for (let part = first; part.more; ) {
    const after = part.calls.at(-1)?.id;
    if (!after) break;
    part = await ask("Calls", { query: { state: "pending", after, limit: otherPart, brief: true }, signal });
    const { calls } = part;
    calls.forEach((c) => listed.add(c.id));
    batch(() => {
      calls.forEach(putMode);
      putAll(calls);
    });
  }
  for (const id of before) {
    const known = calls.value.get(id);
    if (known && !listed.has(id) && !isSettled(known)) looker.look(id);
  }
}

/** Looker fetches calls again: each once for the events of one message, and never while it is at it. */
export class Looker {
  #wanted = new Set<string>();
  #busy = false;

  constructor(readonly signal: AbortSignal) {}

  look(id: string): void {
    this.#wanted.add(id);
    if (!this.#busy) {
      this.#busy = true;
      setTimeout(() => void this.#work());
    }
  }

  async #work(): Promise<void> {
    while (this.#wanted.size > 0 && !this.signal.aborted) {
      const ids = [...this.#wanted].slice(0, 6);
      ids.forEach((id) => this.#wanted.delete(id));
      const found = await Promise.all(ids.map((id) => this.#fetch(id)));
      // In the order of the events, not of the answers: rows are placed by it.
      batch(() => found.forEach((call) => call && putCall(call)));
      if (found.includes(undefined)) await pause(1_000, this.signal);
    }
    this.#busy = false;
  }

  /** Gives the call, null if there is none, or undefined to try again. */
  async #fetch(id: string): Promise<Call | null | undefined> {
    try {
      return await ask("Call", { params: { id }, signal: this.signal });
    } catch (err) {
      if (!(err instanceof ApiError && err.status === 404)) {
        this.#wanted.add(id);
        return undefined;
      }
      drop(id);
      return null;
    }
  }
}

/** Takes over a call in both lists. */
export function putCall(call: Call): void {
  batch(() => {
    putMode(call);
    put(call);
    putPast(call);
  });
}

/** Waits about as long as said, so that pages do not all come back at once; the network's return ends it. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((done) => {
    const end = () => {
      clearTimeout(timer);
      window.removeEventListener("online", end);
      signal.removeEventListener("abort", end);
      done();
    };
    const timer = setTimeout(end, ms * (0.5 + Math.random() / 2));
    window.addEventListener("online", end);
    signal.addEventListener("abort", end);
  });
}
