// What holds for the whole page. The lists are in queue/ and history/.

import { signal } from "@preact/signals";
import type { Actor, Call, Status } from "./api.gen";
import { t } from "./words/words";

export const status = signal<Status | null>(null);

/** connecting before the first contact; lost is said aloud. */
export const link = signal<"connecting" | "live" | "lost">("connecting");

/** The time, by the second: ages are drawn from it. */
export const now = signal(Date.now());

/** What became of the last thing the person did. */
export interface News {
  text: string;
  icon: "yes" | "no" | "pen" | "wait";
  subject?: string;
}

export function badNews(text: string): News {
  return { text, icon: "wait" };
}

export const news = signal<News | null>(null);

/** How long good news stays; bad news stays until the person does something else. */
export const newsTime = 8_000;
let fading: ReturnType<typeof setTimeout> | undefined;

export function tell(what: News | null): void {
  clearTimeout(fading);
  news.value = what;
  if (what && what.icon !== "wait") fading = setTimeout(() => (news.value = null), newsTime);
}

/** A call leaves "pending" once and never returns. */
export function isSettled(call: Call): boolean {
  return call.state !== "pending";
}

export function actorName(actor: Actor): string {
  return actor.name || (actor.id ? `${actor.kind} ${actor.id}` : actor.kind);
}

export function isYou({ kind, id }: Actor): boolean {
  const you = status.value?.you;
  return you !== undefined && kind === you.kind && id === you.id;
}

export function stateWord({ kind, state, decided }: Call): string {
  const words = t().ui.states;
  if (kind === "question" && state === "allowed") return words["answered"]!;
  if (decided?.interrupt) return words["stopped"]!;
  if (decided?.reply) return words["replied"]!;
  return words[state] ?? state;
}

/** The call in one line, for lists: there a path inside the project is told from its root. The card shows it whole. */
export function subjectOf({ card, session }: Call): string {
  const root = session.project ? session.project.replace(/[/\\]?$/, "/") : "";
  return root.length > 1 && card.subject.startsWith(root) ? card.subject.slice(root.length) : card.subject;
}

/** Where the page is: a path, and in the fragment the call that is open. */
export interface Place {
  path: string;
  open: string;
}
export const place = signal<Place>(readPlace());

function readPlace(): Place {
  return { path: location.pathname, open: location.hash.slice(1) };
}

export function go(path: string, open = "", how: "push" | "replace" = "push"): void {
  const url = open ? `${path}#${open}` : path;
  if (how === "push") history.pushState(null, "", url);
  else history.replaceState(null, "", url);
  place.value = readPlace();
}

export function watchPlace(): void {
  window.addEventListener("popstate", () => (place.value = readPlace()));
  window.addEventListener("hashchange", () => (place.value = readPlace()));
}
