// What a call touches, from what the gateway computed: the same six, in the
// same order, wherever they are shown. Nothing an agent says is in here.

import type { Call, Card, Touch } from "../api.gen";

export const effects = ["read", "write", "delete", "net", "outside", "secret"] as const;
export type Effect = (typeof effects)[number];

/** One of the six. What can't be known is never "none". */
export interface Cell {
  effect: Effect;
  known: boolean;
  things: readonly Touch[];
  close: boolean;
}

const files = ["read", "write", "delete"];
const network = ["net", "remote-read", "remote-write"];

const picks: Record<Effect, (t: Touch) => boolean> = {
  read: (t) => t.does === "read",
  write: (t) => t.does === "write",
  delete: (t) => t.does === "delete",
  net: (t) => network.includes(t.does),
  outside: (t) => files.includes(t.does) && t.outside === true && t.what !== undefined,
  secret: (t) => t.secret === true,
};

/** The six of a call, or null where nothing was computed. */
export function cellsOf({ touches, more }: Card): Cell[] | null {
  if (!touches) return null;
  // Code that the line does not show may do anything.
  const known = !touches.some((t) => t.does === "unknown" || t.does === "exec" || (files.includes(t.does) && !t.what)) && !more;
  const of = (effect: Effect) => distinct(touches.filter(picks[effect]));
  const leaks = of("secret").length > 0 && of("net").length > 0;
  return effects.map((effect) => {
    const things = of(effect);
    const close = things.length > 0 && (effect === "delete" || effect === "outside" || effect === "secret" || (effect === "net" && leaks));
    return { effect, known, things, close };
  });
}

function distinct(touches: readonly Touch[]): Touch[] {
  return touches.filter((t, i) => touches.findIndex((o) => o.what === t.what && o.part === t.part) === i);
}

/** What it does besides the six and what its headline says, by name. */
export function besides({ touches = [], say }: Card): string[] {
  const own = [...files, ...network, "secret", say?.key];
  return [...new Set(touches.map((t) => t.does).filter((d) => !own.includes(d)))];
}

export type Grave = "rights" | "delete" | "leak";

/** Why a call asks for more than a click, and the word to type; null for most. */
export function graveOf({ card }: Call): { why: Grave; word: string } | null {
  const touches = card.touches ?? [];
  const host = touches.find((t) => t.does === "net");
  const rights = touches.find((t) => t.does === "privilege");
  const gone = touches.find((t) => t.does === "delete" && t.outside && t.what);
  if (host && touches.some((t) => t.secret)) return { why: "leak", word: typable(host.what) };
  if (rights) return { why: "rights", word: typable(rights.what) };
  if (gone) return { why: "delete", word: typable(gone.what) };
  return null;
}

/** The last part of a name, if it can be typed. */
function typable(what = ""): string {
  const last = what.split("/").filter(Boolean).at(-1) ?? "";
  return /^[\w.:@-]{1,40}$/.test(last) ? last : "allow";
}

/** A path as it is told inside a project. */
export function near(what: string, project: string | undefined): string {
  const root = project ? project.replace(/\/?$/, "/") : "";
  if (root.length < 2) return what;
  return what === project ? "." : what.startsWith(root) ? what.slice(root.length) : what;
}
