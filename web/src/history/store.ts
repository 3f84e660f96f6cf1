// The calls that are settled, newest first, as far as they were asked for: all
// of them as they come, or those that the person narrowed it to.

import { computed, signal } from "@preact/signals";
import { ask } from "../api";
import type { Call, Calls, Facets } from "../api.gen";
import { isSettled } from "../state";

export const pageSize = 50;

export const past = signal<readonly Call[]>([]);
/** False until the gateway has told; an empty list means something only then. */
export const known = signal(false);
export const failed = signal(false);
const moreOfAll = signal(false);

export interface Wanted {
  q: string;
  agent: string;
  session: string;
  tool: string;
  outcome: string;
  by: string;
}
export const everything: Wanted = { q: "", agent: "", session: "", tool: "", outcome: "", by: "" };
export const wanted = signal<Wanted>(everything);
export const narrowed = computed(() => Object.values(wanted.value).some((v) => v !== ""));
/** What is like it, and where to go on; null until it was looked for. */
const found = signal<{ calls: readonly Call[]; next: string | undefined } | null>(null);

export const shown = computed(() => (narrowed.value ? (found.value?.calls ?? []) : past.value));
export const looked = computed(() => (narrowed.value ? found.value !== null : known.value));
export const more = computed(() => (narrowed.value ? Boolean(found.value?.next) : moreOfAll.value));

export const facets = signal<Facets | null>(null);

export function setPast(first: Calls): void {
  past.value = first.calls;
  moreOfAll.value = first.more;
  known.value = true;
}

export function resetPast(): void {
  past.value = [];
  moreOfAll.value = known.value = failed.value = false;
  wanted.value = everything;
  found.value = facets.value = null;
}

/** Takes over a call: in its place if it is listed, else on top. */
export function putPast(call: Call): void {
  if (found.value) found.value = { ...found.value, calls: found.value.calls.map((c) => (c.id === call.id ? call : c)) };
  if (!isSettled(call) || !known.value) return;
  const at = past.value.findIndex((c) => c.id === call.id);
  past.value = at < 0 ? [call, ...past.value] : past.value.with(at, call);
}

export async function readFacets(): Promise<void> {
  facets.value = await ask("Facets", {}).catch(() => facets.value);
}

let typing: ReturnType<typeof setTimeout> | undefined;
const typingPause = 250;

/** Narrows the list. Words are looked for when nobody types any more. */
export function want(change: Partial<Wanted>): void {
  wanted.value = { ...wanted.value, ...change };
  clearTimeout(typing);
  if (!narrowed.value) found.value = null;
  else typing = setTimeout(() => void find(), change.q === undefined ? 0 : typingPause);
}

async function find(after?: string): Promise<void> {
  const now = wanted.value;
  failed.value = false;
  try {
    const { calls, next } = await ask("History", { query: { ...given(now), limit: pageSize, ...(after ? { after } : {}) } });
    if (wanted.value !== now) return;
    found.value = { calls: after ? [...(found.value?.calls ?? []), ...calls] : calls, next };
  } catch {
    if (wanted.value === now) failed.value = true;
  }
}

/** Empty fields want everything, and are left out. */
export function given(w: Wanted): Partial<Wanted> {
  return Object.fromEntries(Object.entries(w).filter(([, v]) => v !== ""));
}

export async function loadMore(): Promise<void> {
  if (narrowed.value) return find(found.value?.next);
  const last = past.value.at(-1);
  if (!last) return;
  failed.value = false;
  try {
    const next = await ask("Calls", { query: { state: "settled", limit: pageSize, after: last.id } });
    const have = new Set(past.value.map((c) => c.id));
    past.value = [...past.value, ...next.calls.filter((c) => !have.has(c.id))];
    moreOfAll.value = next.more;
  } catch {
    failed.value = true;
  }
}
