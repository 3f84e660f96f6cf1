// What was remembered, newest first. A grant that was revoked here keeps its
// place until the list is read anew: nothing moves under the pointer.

import { signal } from "@preact/signals";
import { ApiError, ask } from "../api";
import type { Grant } from "../api.gen";
import { t } from "../words/words";

/** Null until the gateway has told. */
export const grants = signal<readonly Grant[] | null>(null);
/** Why the last click did nothing. */
export const refused = signal("");

let reading: Promise<void> | null = null;
let again = false;

/** Reads the list; while that is under way, once more after it. */
export function readGrants(): Promise<void> {
  again = reading !== null;
  return (reading ??= read().finally(() => {
    reading = null;
    if (again) void readGrants();
  }));
}

async function read(): Promise<void> {
  try {
    const list = (await ask("Grants", { query: {} })).grants.filter((g) => g.good);
    grants.value = merged(list, (grants.peek() ?? []).filter((g) => g.revoked));
  } catch {
    // A lost connection shows by itself, and reconnecting reads the list again.
  }
}

/** Newest first; of two with the same id, the one of the first list. */
function merged(first: readonly Grant[], more: readonly Grant[]): Grant[] {
  const have = new Set(first.map((g) => g.id));
  return [...first, ...more.filter((g) => !have.has(g.id))].toSorted((a, b) => Date.parse(b.at) - Date.parse(a.at) || b.id.localeCompare(a.id));
}

/** Ends a grant at once. */
export async function revoke(id: string): Promise<void> {
  refused.value = "";
  try {
    const ended = await ask("RevokeGrant", { params: { id }, in: {} });
    grants.value = merged([ended], grants.value ?? []);
  } catch (err) {
    refused.value = t().rules.notRevoked(err instanceof ApiError ? err.message : t().rules.noAnswer);
  }
}

/** Lets go of what was revoked on the last visit. */
export function forgetRevoked(): void {
  grants.value = grants.value?.filter((g) => !g.revoked) ?? null;
}

export function resetGrants(): void {
  grants.value = null;
  refused.value = "";
}
