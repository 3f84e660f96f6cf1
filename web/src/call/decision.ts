// Sending a decision, and saying what became of it. The first decision about a
// call stands; a card that is out of date is never decided on.

import { signal } from "@preact/signals";
import { ApiError, ask, NetworkError } from "../api";
import type { Call, Decision } from "../api.gen";
import { moveOn } from "../queue/move";
import { drop, selected } from "../queue/store";
import { actorName, badNews, stateWord, subjectOf, tell, type News } from "../state";
import { putCall } from "../sync";

/** The call whose decision is under way. */
export const sending = signal<string | null>(null);

export type Verb = Omit<Decision, "digest">;

export async function decide(call: Call, verb: Verb): Promise<boolean> {
  if (sending.value !== null) return false;
  sending.value = call.id;
  tell(null);
  try {
    putCall(await ask("Decide", { params: { id: call.id }, in: { ...verb, digest: call.digest } }));
    if (selected.value === call.id) moveOn(call.id);
    tell({ text: done(call, verb), icon: verb.state === "allowed" ? "yes" : "no", subject: subjectOf(call) });
    return true;
  } catch (err) {
    tell(await explain(call, err));
    return false;
  } finally {
    sending.value = null;
  }
}

function done(call: Call, verb: Verb): string {
  if (call.kind === "question") return verb.state === "allowed" ? "Answered" : "Not answered";
  if (verb.interrupt) return "Denied, and the agent stopped";
  if (verb.reply) return "Replied to";
  if (verb.remember) return `Allowed, and remembered ${verb.remember.match}:`;
  return verb.state === "allowed" ? "Allowed once" : "Denied";
}

/** Replaces the input. The call goes on waiting, as a new one to look at. */
export async function edit(call: Call, input: unknown): Promise<boolean> {
  if (sending.value !== null) return false;
  sending.value = call.id;
  tell(null);
  try {
    putCall(await ask("Edit", { params: { id: call.id }, in: { digest: call.digest, input } }));
    tell({ text: "Saved. It still waits: look at it, then decide.", icon: "pen" });
    return true;
  } catch (err) {
    tell(await explain(call, err));
    return false;
  } finally {
    sending.value = null;
  }
}

async function explain(call: Call, err: unknown): Promise<News | null> {
  if (err instanceof NetworkError) return badNews("Not sent: the gateway does not answer. The call stays here; try again.");
  if (!(err instanceof ApiError)) throw err;
  switch (err.code) {
    case "unauthenticated":
      return null; // the login screen says it
    case "settled": {
      const fresh = await reload(call);
      const by = err.decided ?? fresh?.decided;
      return badNews(by ? `Already decided by ${actorName(by.by)} as ${by.state}` : "Already decided");
    }
    case "changed":
      await reload(call);
      return badNews("Not sent: the call changed. Look at it again.");
    case "paused":
      return badNews("Not sent: everything is stopped. Resume first.");
    case "not_found":
      drop(call.id);
      return badNews("Not sent: this call is gone.");
    default:
      return badNews(["Not sent: " + err.message, err.hint].filter(Boolean).join("; "));
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

const reports: Record<string, string> = {
  done: "the agent reported success",
  failed: "the agent reported a failure",
  unknown: "nobody reported how it went, so it may have run",
};

/** What became of a call after it was allowed, as far as is known. */
export function report(call: Call): string {
  if (call.outcome) return reports[call.outcome.kind] ?? call.outcome.kind;
  if (call.consumed) return "it has begun";
  return call.lapses ? "the agent has not come for it yet" : "";
}

/** How a settled call is told: "Denied by Jon Hale". */
export function outcome(call: Call): string {
  const by = call.decided?.by;
  switch (by?.kind) {
    case undefined:
      return stateWord(call);
    case "clock":
      return `${stateWord(call)}: nobody decided in time`;
    default:
      return `${stateWord(call)} by ${actorName(by!)}`;
  }
}
