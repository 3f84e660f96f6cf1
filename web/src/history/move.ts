// Moving through the table by keys: the focus is the place, so that Enter opens
// a row as it opens any link.

import { go, place } from "../state";

let last = "";

export function openPast(id: string): void {
  last = id;
  go("/history", id);
}

const links = () => [...document.querySelectorAll<HTMLElement>("tr[data-settled] a")];

export function stepPast(by: 1 | -1): void {
  if (place.value.open) return;
  const all = links();
  const at = all.findIndex((a) => a === document.activeElement);
  (at < 0 ? all[0] : all[at + by])?.focus();
}

/** Gives the focus back to the row that was open. */
export function returnToRow(): void {
  document.querySelector<HTMLElement>(`tr[data-settled="${CSS.escape(last)}"] a`)?.focus();
  last = "";
}
