/** How a mode is told: in a list, in a chip, and what it does. */
export const modes: [string, { name: string; short: string; says: string }][] = [
  ["plan", { name: "Plan", short: "plan", says: "What does not only read is asked" }],
  ["default", { name: "Default", short: "default", says: "Rules decide, a person decides the rest" }],
  ["acceptEdits", { name: "Accept edits", short: "accept edits", says: "File changes inside the project are not asked" }],
  ["bypassPermissions", { name: "Bypass for a time", short: "bypass", says: "What no rule speaks about is not asked. Rules that deny or ask and protected paths still hold." }],
];

export const bypass = "bypassPermissions";

export function shortName(mode: string): string {
  return modes.find(([m]) => m === mode)?.[1].short ?? mode;
}

/** How long a bypass holds, in seconds; the shortest is offered first. */
export const times: [number, string][] = [
  [15 * 60, "15 min"],
  [3600, "1 h"],
  [4 * 3600, "4 h"],
];
export const shortest = times[0]![0];

export function timeName(seconds: number): string {
  return times.find(([s]) => s === seconds)?.[1] ?? "";
}
