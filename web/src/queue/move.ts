// Moving between the calls that wait. On a narrow screen the card is a place of
// its own, so that the browser's Back leads to the list.

import { computed, effect, untracked } from "@preact/signals";
import { go, isSettled, place, status, tell } from "../state";
import { calls, current, neighbour, nextWaiting, select, selected, visible } from "./store";

export const isNarrow = () => matchMedia("(max-width: 860px)").matches;

/** Brings a call into focus because the person chose it. */
export function choose(id: string): void {
  tell(null);
  const fresh = isNarrow() && place.value.open === "";
  go("/", id, fresh ? "push" : "replace");
  select(id);
}

export function step(by: 1 | -1): void {
  const id = neighbour(by);
  if (id !== null) choose(id);
}

/** Leaves a settled call for the next one that waits, if any. */
export function moveOn(from: string): void {
  tell(null);
  const next = nextWaiting(from);
  const open = place.value.open !== "" && next !== null ? next : "";
  if (place.value.path === "/") go("/", open, "replace");
  select(next);
}

/** Keeps the card among the rows that the filter leaves. */
export function stayInList(): void {
  const first = visible.value[0];
  if (first === undefined || visible.value.some((id) => id === selected.value)) return;
  tell(null);
  if (place.value.open) go("/", first, "replace");
  select(first);
}

export function backToList(): void {
  tell(null);
  go("/", "", "replace");
}

/** Follows the address: a link or the browser's buttons may name a call. */
export function watchOpen(): void {
  effect(() => {
    const { path, open } = place.value;
    if (path === "/" && calls.value.has(open) && untracked(() => selected.value) !== open) {
      untracked(() => tell(null));
      select(open);
    }
  });
}

/** A stop settles every call at once: none of them is kept for a last look. */
export function watchPause(): void {
  const paused = computed(() => Boolean(status.value?.paused));
  effect(() => {
    void paused.value;
    untracked(() => tell(null));
  });
  effect(() => {
    const call = current.value;
    if (paused.value && call && isSettled(call)) untracked(() => moveOn(call.id));
  });
}
