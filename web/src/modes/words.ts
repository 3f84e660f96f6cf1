import { t, type Words } from "../words/words";

export const modes = ["plan", "default", "acceptEdits", "bypassPermissions"] as const;

export const bypass = "bypassPermissions";

export function shortName(mode: string): string {
  const names: Partial<Record<string, Words["modes"]["names"]["plan"]>> = t().modes.names;
  return names[mode]?.short ?? mode;
}

/** How long a bypass holds, in seconds; the shortest is offered first. */
export const times = [15 * 60, 3600, 4 * 3600];
export const shortest = times[0]!;

export function timeName(seconds: number): string {
  const { min, h } = t().ui.span;
  return seconds < 3600 ? min(seconds / 60) : h(seconds / 3600);
}
