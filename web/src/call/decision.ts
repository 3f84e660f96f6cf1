// Sending a decision, and saying what became of it. The first decision about a
// call stands; a card that is out of date is never decided on.

import { signal } from "@preact/signals";
import { ApiError, ask, NetworkError } from "../api";
import type { Call, Decision } from "../api.gen";
import { moveOn } from "../queue/move";
import { drop, sameAs, selected } from "../queue/store";
import { actorName, badNews, stateWord, subjectOf, tell, type News } from "../state";
import { putCall } from "../sync";
import { beginning } from "../ui/text";
import { t } from "../words/words";

/** The call whose decision is under way. */
export const sending = signal<string | null>(null);

export type Verb = Omit<Decision, "digest">;

/** Sends a decision. One of several leaves it to the caller to say how it went. */
export async function decide(call: Call, verb: Verb, several = false): Promise<boolean> {
  if (sending.value !== null) return false;
  sending.value = call.id;
  tell(null);
  const others = several || verb.remember || verb.interrupt ? [] : sameAs(call).slice(1);
  try {
    await send(call, verb);
    if (several) return true;
    const n = 1 + (await sendAll(others, verb, call.digest));
    if (selected.value === call.id) moveOn(call.id);
    if (n <= others.length) {
      tell(badNews(t().call.all.some(n, others.length + 1)));
      return true;
    }
    tell({ text: done(call, verb), icon: verb.state === "allowed" ? "yes" : "no", subject: beginning(subjectOf(call)) });
    return true;
  } catch (err) {
    tell(await explain(call, err));
    return false;
  } finally {
    sending.value = null;
  }
}

async function send({ id, digest }: Call, verb: Verb): Promise<void> {
  putCall(await ask("Decide", { params: { id }, in: { ...verb, digest } }));
}

/** Sends the same about calls that are the same, each by itself: the first decision about each stands, and it is bound to what was shown. */
async function sendAll(calls: readonly Call[], verb: Verb, digest: string): Promise<number> {
  let n = 0;
  for (const call of calls) {
    try {
      await send({ ...call, digest }, verb);
      n++;
    } catch (err) {
      await explain(call, err);
    }
  }
  return n;
}

function done(call: Call, verb: Verb): string {
  const words = t().call.news;
  if (call.kind === "question") return verb.state === "allowed" ? words.answered : words.notAnswered;
  if (verb.interrupt) return words.stopped;
  if (verb.reply) return words.replied;
  if (verb.remember) return words.remembered(verb.remember.match);
  return verb.state === "allowed" ? words.allowed : words.denied;
}

/** Replaces the input. The call goes on waiting, as a new one to look at. */
export async function edit(call: Call, input: unknown): Promise<boolean> {
  if (sending.value !== null) return false;
  sending.value = call.id;
  tell(null);
  try {
    putCall(await ask("Edit", { params: { id: call.id }, in: { digest: call.digest, input } }));
    tell({ text: t().call.news.saved, icon: "pen" });
    return true;
  } catch (err) {
    tell(await explain(call, err));
    return false;
  } finally {
    sending.value = null;
  }
}

async function explain(call: Call, err: unknown): Promise<News | null> {
  const words = t().call.news;
  if (err instanceof NetworkError) return badNews(words.noAnswer);
  if (!(err instanceof ApiError)) throw err;
  switch (err.code) {
    case "unauthenticated":
      return null; // the login screen says it
    case "expired":
    case "settled": {
      const fresh = await reload(call);
      const by = err.decided ?? fresh?.decided;
      return badNews(by ? words.settledBy(actorName(by.by), t().ui.states[by.state]?.toLowerCase() ?? by.state) : words.settled);
    }
    case "changed":
      await reload(call);
      return badNews(words.changed);
    case "paused":
      return badNews(words.paused);
    case "unsigned":
      return badNews(err.message);
    case "not_found":
      drop(call.id);
      return badNews(words.gone);
    default:
      return badNews(words.notSent([err.message, err.hint].filter(Boolean).join("; ")));
  }
}

async function reload({ id }: Call): Promise<Call | null> {
  try {
    const fresh = await ask("Call", { params: { id } });
    putCall(fresh);
    return fresh;
  } catch {
    return null; // its event will come
  }
}

/** What became of a call after it was allowed, as far as is known. */
export function report(call: Call): string {
  if (call.outcome) return t().call.went[call.outcome.kind] ?? call.outcome.kind;
  if (call.consumed) return t().call.went["begun"]!;
  return call.lapses ? t().call.went["notCome"]! : "";
}

/** How a settled call is told: "Denied by Jon Hale". */
export function outcome(call: Call): string {
  const by = call.decided?.by;
  switch (by?.kind) {
    case undefined:
      return stateWord(call);
    case "clock":
      return t().call.nobodyInTime(stateWord(call));
    default:
      return t().call.stateBy(stateWord(call), actorName(by!));
  }
}
