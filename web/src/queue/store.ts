// The calls that wait. Rows keep their places: nothing moves while the pointer
// is over the list, and what was settled goes when it is left alone.

import { computed, signal } from "@preact/signals";
import type { Call, Session } from "../api.gen";
import { isSettled } from "../state";

export const calls = signal<ReadonlyMap<string, Call>>(new Map());
/** Ids in the order in which they are shown. */
export const order = signal<readonly string[]>([]);
export const selected = signal<string | null>(null);
export const filter = signal("");

/** Calls that came while the page was open and whose rows nobody can have seen yet. */
export const unseen = signal<ReadonlySet<string>>(new Set());
/** The calls that came last, for whoever tells about them. */
export const arrived = signal<readonly Call[]>([]);

let hovered = false;

export const current = computed(() => (selected.value === null ? undefined : calls.value.get(selected.value)));
export const waiting = computed(() => [...calls.value.values()].filter((c) => !isSettled(c)).length);

export const visible = computed(() => {
  const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
  const first = new Map<string, string>();
  return order.value.filter((id) => {
    const call = calls.value.get(id)!;
    if (sameKey(call) !== null && (first.get(sameKey(call)!) ?? id) !== id && id !== selected.value) return false;
    const text = words.length === 0 ? "" : searchText(call);
    if (!words.every((w) => text.includes(w))) return false;
    if (sameKey(call) !== null) first.set(sameKey(call)!, id);
    return true;
  });
});

/** What calls have in common that are one question: the gateway tells it, also of rows. */
function sameKey(call: Call): string | null {
  return isSettled(call) || !call.same ? null : call.same;
}

/** The calls that wait and are the same as this one, itself first. */
export function sameAs(call: Call): Call[] {
  const all = repeated.value.get(sameKey(call) ?? "") ?? [];
  return [call, ...all.filter((c) => c.id !== call.id)];
}

/** Calls that wait more than once. While there are none it stays the same object, and no row is drawn anew for it. */
let repeats: ReadonlyMap<string, Call[]> = new Map();
const repeated = computed(() => {
  const found = new Map<string, Call[]>();
  for (const c of calls.value.values()) {
    const key = sameKey(c);
    if (key === null) continue;
    const list = found.get(key);
    if (list) list.push(c);
    else found.set(key, [c]);
  }
  const several = [...found].filter(([, list]) => list.length > 1);
  if (several.length > 0 || repeats.size > 0) repeats = new Map(several);
  return repeats;
});

function searchText({ card, tool, dir, session }: Call): string {
  return [card.says, card.subject, tool, dir, session.name, session.project, session.host].join("\n").toLowerCase();
}

export interface Group {
  key: string;
  agent: string;
  session: Session;
  /** How many calls of it wait, also those that are not shown. */
  waiting: number;
  runs: Run[];
}
/** Neighbours of one batch. */
export interface Run {
  batch: string;
  size: number;
  /** How many of it wait, also those that the filter leaves out. */
  waiting: number;
  calls: Call[];
}

/** What did not change is the same object again: it is not drawn anew. */
let drawn: readonly Group[] = [];
export const groups = computed<readonly Group[]>(() => (drawn = keep(drawn, grouped())));

function grouped(): Group[] {
  const waits = new Map<string, number>();
  for (const { agent, session, batch, state } of calls.value.values()) {
    if (state !== "pending") continue;
    for (const key of [batch.id, `${agent} ${session.id}`]) waits.set(key, (waits.get(key) ?? 0) + 1);
  }
  const out: Group[] = [];
  for (const id of visible.value) {
    const call = calls.value.get(id)!;
    let group = out.at(-1);
    if (group?.session.id !== call.session.id || group.agent !== call.agent) out.push((group = begin(call, out, waits)));
    const run = group.runs.at(-1);
    if (run?.batch === call.batch.id) run.calls.push(call);
    else group.runs.push({ batch: call.batch.id, size: call.batch.size, waiting: waits.get(call.batch.id) ?? 0, calls: [call] });
  }
  return out;
}

/** The new groups, with the old in place of those that are the same. */
function keep(old: readonly Group[], fresh: readonly Group[]): readonly Group[] {
  const before = new Map(old.map((g) => [g.key, g]));
  return fresh.map((g) => {
    const was = before.get(g.key);
    if (!was) return g;
    const runs = new Map(was.runs.map((r) => [r.calls[0]!.id, r]));
    g.runs = g.runs.map((r) => {
      const same = runs.get(r.calls[0]!.id);
      return same && sameRun(same, r) ? same : r;
    });
    return was.waiting === g.waiting && sameList(was.runs, g.runs) ? was : g;
  });
}

const sameList = (a: readonly unknown[], b: readonly unknown[]) => a.length === b.length && a.every((x, i) => x === b[i]);
const sameRun = (a: Run, b: Run) => a.batch === b.batch && a.size === b.size && a.waiting === b.waiting && sameList(a.calls, b.calls);

/** The same session again is another group, until the rows are put in order. */
function begin({ agent, session }: Call, before: readonly Group[], waits: ReadonlyMap<string, number>): Group {
  const n = before.filter((g) => g.agent === agent && g.session.id === session.id).length;
  return { key: JSON.stringify([agent, session.id, n]), agent, session, waiting: waits.get(`${agent} ${session.id}`) ?? 0, runs: [] };
}

/** Takes over what the gateway says about a call. */
export function put(call: Call): void {
  const known = calls.value.get(call.id);
  // An answer that was overtaken must not bring a settled call back.
  if (known && isSettled(known) && !isSettled(call)) return;
  if (!known && isSettled(call)) return;
  const places = known ? order.value : placed(call);
  calls.value = new Map(calls.value).set(call.id, call); // first: whoever is in the order must be known
  order.value = places;
  if (isSettled(call)) sweep();
  else if (selected.value === null) selected.value = call.id;
  if (!known && told) {
    unseen.value = new Set(unseen.value).add(call.id);
    arrived.value = [call];
  }
}

/** False until the first list is there: what it holds is not news. */
let told = false;
export function tellNews(): void {
  told = true;
}

/** Takes over many calls that wait, at the cost of one. */
export function putAll(many: readonly Call[]): void {
  const fresh = many.filter((c) => !calls.value.has(c.id) && !isSettled(c));
  const old = many.filter((c) => calls.value.has(c.id) && !c.brief);
  if (fresh.length > 0) {
    const all = new Map(calls.value);
    fresh.forEach((c) => all.set(c.id, c));
    calls.value = all;
    const ids = [...order.value, ...fresh.map((c) => c.id)];
    order.value = hovered ? ids : bySession(ids);
    selected.value ??= ids[0] ?? null;
  }
  old.forEach(put);
}

export function see(ids: readonly string[]): void {
  if (!ids.some((id) => unseen.value.has(id))) return;
  const rest = new Set(unseen.value);
  ids.forEach((id) => rest.delete(id));
  unseen.value = rest;
}

/** Where a new call goes: behind its batch, its session, or all the rest. */
function placed(call: Call): string[] {
  const ids = [...order.value];
  const behind = (same: (c: Call) => boolean) => ids.findLastIndex((id) => same(calls.value.get(id)!)) + 1;
  let at = ids.length;
  if (!hovered) at = behind((c) => c.batch.id === call.batch.id) || behind((c) => c.session.id === call.session.id) || at;
  ids.splice(at, 0, call.id);
  return ids;
}

/** Forgets a call that the gateway does not know. */
export function drop(id: string): void {
  if (selected.value === id) selected.value = nextWaiting(id);
  remove((c) => c.id === id);
}

export function select(id: string | null): void {
  selected.value = id;
  sweep();
}

/** The next call to decide behind the one named, from the top again at the end. */
export function nextWaiting(id: string): string | null {
  const ids = visible.value.includes(id) ? visible.value : order.value;
  const at = ids.indexOf(id);
  const round = [...ids.slice(at + 1), ...ids.slice(0, Math.max(at, 0))];
  return round.find((other) => !isSettled(calls.value.get(other)!)) ?? null;
}

/** The row above or below, or null at the end. */
export function neighbour(step: 1 | -1): string | null {
  const ids = visible.value;
  const at = selected.value === null ? -1 : ids.indexOf(selected.value);
  return (at < 0 ? ids[0] : ids[at + step]) ?? null;
}

export function hover(over: boolean): void {
  hovered = over;
  if (over) return;
  sweep();
  order.value = bySession(order.value);
}

/** Sessions in the order of their first calls, each with all of its calls. */
function bySession(ids: readonly string[]): readonly string[] {
  const sessions = new Map<string, string[]>();
  for (const id of ids) {
    const { agent, session } = calls.value.get(id)!;
    const key = JSON.stringify([agent, session.id]);
    const list = sessions.get(key);
    if (list) list.push(id);
    else sessions.set(key, [id]);
  }
  const sorted = [...sessions.values()].flat();
  return sorted.every((id, i) => id === ids[i]) ? ids : sorted;
}

function sweep(): void {
  if (!hovered) remove((c) => isSettled(c) && c.id !== selected.value);
}

function remove(which: (c: Call) => boolean): void {
  const gone = new Set([...calls.value.values()].filter(which).map((c) => c.id));
  if (gone.size === 0) return;
  order.value = order.value.filter((id) => !gone.has(id));
  see([...gone]);
  calls.value = new Map([...calls.value].filter(([id]) => !gone.has(id)));
}

export function resetQueue(): void {
  hovered = told = false;
  unseen.value = new Set();
  arrived.value = [];
  filter.value = "";
  selected.value = null;
  order.value = [];
  calls.value = new Map();
}
