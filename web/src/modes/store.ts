// The modes that people chose for sessions. A choice comes with the list of
// sessions and with every call; the latest stands, whichever way it came.

import { computed, signal } from "@preact/signals";
import { ApiError, ask } from "../api";
import type { Mode, RulesMode, Session } from "../api.gen";
import { now } from "../state";
import { t } from "../words/words";

/** A session as the gateway knows it: an agent has its own names for them. */
export interface Of {
  agent: string;
  session: Session;
}
export interface Chosen extends Of {
  mode: Mode;
}

const byRules = signal<ReadonlyMap<string, RulesMode>>(new Map());
const chosen = signal<ReadonlyMap<string, Chosen>>(new Map());

export function keyOf({ agent, session }: Of): string {
  return JSON.stringify([agent, session.id]);
}

/** Changes only when a choice ends, not with every tick. */
const ended = computed(() => {
  const over = [...chosen.value].filter(([, { mode }]) => mode.until !== undefined && Date.parse(mode.until) <= now.value);
  return JSON.stringify(over.map(([key]) => key));
});

const inForce = computed(() => {
  const over = new Set(JSON.parse(ended.value) as string[]);
  return new Map([...chosen.value].filter(([key]) => !over.has(key)));
});

/** What a person chose for a session, while it holds. */
export function chosenFor(of: Of): Mode | undefined {
  return inForce.value.get(keyOf(of))?.mode;
}

/** The mode that the rules give a session, if they say one. */
export function rulesFor(of: Of): RulesMode | undefined {
  return byRules.value.get(keyOf(of));
}

/** The mode of a session as far as the page knows. The host's word can only tighten it. */
export function modeOf(of: Of): string {
  return of.session.mode === "plan" ? "plan" : (chosenFor(of)?.mode ?? rulesFor(of)?.mode ?? "default");
}

const risks: Record<string, number> = { plan: 2, acceptEdits: 1 };

/** The sessions for which somebody chose anything but default, bypass first. */
export const unusual = computed(() =>
  [...inForce.value.values()]
    .filter((c) => c.mode.mode !== "default")
    .toSorted((a, b) => (risks[a.mode.mode] ?? 0) - (risks[b.mode.mode] ?? 0) || Date.parse(a.mode.at) - Date.parse(b.mode.at)),
);

/** Takes over what an answer says about a session, unless something later is known. */
export function putMode({ agent, session, mode, rules_mode: rules, brief }: Of & { mode?: Mode; rules_mode?: RulesMode; brief?: boolean }): void {
  const key = keyOf({ agent, session });
  // A row of a long list does not say it.
  if (!brief && JSON.stringify(rules) !== JSON.stringify(byRules.peek().get(key))) {
    const all = new Map(byRules.peek());
    if (rules) all.set(key, rules);
    else all.delete(key);
    byRules.value = all;
  }
  if (!mode) return;
  const known = chosen.peek().get(key)?.mode;
  if (known && (Date.parse(known.at) > Date.parse(mode.at) || JSON.stringify(known) === JSON.stringify(mode))) return;
  chosen.value = new Map(chosen.peek()).set(key, { agent, session, mode });
}

let reading: Promise<void> | null = null;
let again = false;

/** Reads the sessions; while that is under way, once more after it. */
export function readModes(): Promise<void> {
  again = reading !== null;
  return (reading ??= read().finally(() => {
    reading = null;
    if (again) void readModes();
  }));
}

async function read(): Promise<void> {
  try {
    (await ask("Sessions", {})).sessions.forEach(putMode);
  } catch {
    // A lost connection shows by itself, and reconnecting reads them again.
  }
}

/** Chooses a mode. Gives why it was not, or "". */
export async function setMode({ agent, session }: Of, mode: string, seconds = 0): Promise<string> {
  try {
    putMode(await ask("SetMode", { in: { agent, session: session.id, mode, ...(seconds > 0 && { for_seconds: seconds }) } }));
    return "";
  } catch (err) {
    return t().modes.notChanged(err instanceof ApiError ? err.message : t().ui.noAnswer);
  }
}

export function resetModes(): void {
  chosen.value = new Map();
  byRules.value = new Map();
}
