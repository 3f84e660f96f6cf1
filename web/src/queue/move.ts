// Moving between the calls that wait. On a narrow screen the card is a place of
// its own, so that the browser's Back leads to the list.

import { effect, untracked } from "@preact/signals";
import { go, news, place } from "../state";
import { calls, neighbour, nextWaiting, select, selected } from "./store";

const narrow = () => matchMedia("(max-width: 860px)").matches;

/** Brings a call into focus because the person chose it. */
export function choose(id: string): void {
  news.value = null;
  const fresh = narrow() && place.value.open === "";
  go("/", id, fresh ? "push" : "replace");
  select(id);
}

export function step(by: 1 | -1): void {
  const id = neighbour(by);
  if (id !== null) choose(id);
}

/** Leaves a settled call for the next one that waits, if any. */
export function moveOn(from: string): void {
  const next = nextWaiting(from);
  const open = place.value.open !== "" && next !== null ? next : "";
  if (place.value.path === "/") go("/", open, "replace");
  select(next);
}

export function backToList(): void {
  news.value = null;
  go("/", "", "replace");
}

/** Follows the address: a link or the browser's buttons may name a call. */
export function watchOpen(): void {
  effect(() => {
    const { path, open } = place.value;
    if (path === "/" && calls.value.has(open) && untracked(() => selected.value) !== open) select(open);
  });
}
