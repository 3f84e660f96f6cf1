// The calls that are settled, newest first, as far as they were asked for.

import { signal } from "@preact/signals";
import { ask } from "../api";
import type { Call, Calls } from "../api.gen";
import { isSettled } from "../state";

export const pageSize = 50;

export const past = signal<readonly Call[]>([]);
export const more = signal(false);
/** False until the gateway has told; an empty list means something only then. */
export const known = signal(false);
export const failed = signal(false);

export function setPast(first: Calls): void {
  past.value = first.calls;
  more.value = first.more;
  known.value = true;
}

export function resetPast(): void {
  past.value = [];
  more.value = known.value = failed.value = false;
}

/** Takes over a call: in its place if it is listed, else on top. */
export function putPast(call: Call): void {
  if (!isSettled(call) || !known.value) return;
  const at = past.value.findIndex((c) => c.id === call.id);
  past.value = at < 0 ? [call, ...past.value] : past.value.with(at, call);
}

export async function loadMore(): Promise<void> {
  const last = past.value.at(-1);
  if (!last) return;
  failed.value = false;
  try {
    const next = await ask("Calls", { query: { state: "settled", limit: pageSize, after: last.id } });
    const have = new Set(past.value.map((c) => c.id));
    past.value = [...past.value, ...next.calls.filter((c) => !have.has(c.id))];
    more.value = next.more;
  } catch {
    failed.value = true;
  }
}
