// The rules in force, what would happen to a call, and rules that could be
// added. Long work is the gateway's: it is asked again until it is ready.

import { computed, signal } from "@preact/signals";
import { ApiError, ask } from "../api";
import type { Explain, Explained, Rule, Rules, Suggestions, TriedRule } from "../api.gen";
import { grants } from "../grants/store";
import { t } from "../words/words";

export const rules = signal<Rules | null>(null);
export const search = signal("");
/** all, an effect, or unused. */
export const kind = signal("all");

const words = () => search.value.toLowerCase().split(/\s+/).filter(Boolean);
const has = (...texts: (string | undefined)[]) => {
  const text = texts.join("\n").toLowerCase();
  return words().every((w) => text.includes(w));
};

export const shownRules = computed(() =>
  (rules.value?.rules ?? []).filter(
    (r) => (kind.value === "all" || kind.value === r.effect || (kind.value === "unused" && r.used === 0)) && has(r.text, r.source, r.why, r.layer, r.project),
  ),
);
export const shownGrants = computed(() =>
  (grants.value ?? []).filter(
    (g) => (kind.value === "all" || kind.value === "allow" || (kind.value === "unused" && g.used === 0)) && has(g.match, g.scope, g.project, g.by.name, g.session),
  ),
);

export async function readRules(): Promise<void> {
  rules.value = await ask("Rules", {}).catch(() => rules.value);
}

export const ruleKey = (r: Rule) => [r.layer, r.project, r.source, r.effect, r.text].join("\n");

/** What a person types, and what came of it. */
export const question = signal<Required<Pick<Explain, "tool" | "input" | "project">>>({ tool: "Bash", input: "", project: "" });
export const explained = signal<Explained | null>(null);
export const wrong = signal("");

export async function explain(what: Explain): Promise<void> {
  wrong.value = "";
  try {
    explained.value = await ask("Explain", { in: what });
  } catch (err) {
    explained.value = null;
    wrong.value = reason(err);
  }
}

const reason = (err: unknown) => (err instanceof ApiError ? err.message : t().rules.noAnswer);

export const suggestions = signal<Suggestions | null>(null);
const every = 400;

/** Asks until the gateway has looked through what happened, or nobody wants to know. */
export async function lookForSuggestions(wanted: () => boolean, anew = false): Promise<void> {
  for (let first = anew; wanted(); first = false) {
    try {
      const got = await ask("Suggest", { in: { anew: first } });
      if (!wanted()) return;
      suggestions.value = got;
      if (got.work.ready) return;
    } catch {
      return;
    }
    await new Promise((done) => setTimeout(done, every));
  }
}

/** The rule that is being made, and what it would change. */
export interface Draft {
  effect: string;
  call: string;
  match: string;
}
export const draft = signal<Draft | null>(null);
export const tried = signal<TriedRule | null>(null);
/** Why there is no trial, or nothing was applied; and what was. */
export const refused = signal("");
export const done = signal("");

export function beginRule(of: Draft): void {
  done.value = refused.value = "";
  tried.value = null;
  draft.value = of;
  void tryIt(of);
}

export function endRule(): void {
  draft.value = tried.value = null;
  refused.value = "";
}

async function tryIt(of: Draft): Promise<void> {
  while (draft.value === of) {
    try {
      const got = await ask("TryRule", { in: of.match ? of : { effect: of.effect, call: of.call } });
      if (draft.value !== of) return;
      tried.value = got;
      refused.value = "";
      if (got.work.ready) return;
    } catch (err) {
      if (draft.value === of) refused.value = t().rules.cannot(reason(err));
      return;
    }
    await new Promise((go) => setTimeout(go, every));
  }
}

/** Puts in force exactly what was shown. */
export async function apply(): Promise<void> {
  const [of, got] = [draft.value, tried.value];
  if (!of || !got?.safe) return;
  refused.value = "";
  try {
    const now = await ask("AddRule", { in: { effect: got.effect, match: got.match, call: of.call, digest: got.digest } });
    endRule();
    done.value = t().rules.done(got.match, now.revision);
    suggestions.value = suggestions.value && { ...suggestions.value, rules: suggestions.value.rules.filter((s) => s.match !== got.match) };
    await readRules();
  } catch (err) {
    refused.value = t().rules.refused(reason(err));
    if (err instanceof ApiError && err.status === 409) void tryIt((draft.value = { ...of, match: got.match }));
  }
}

export function resetRules(): void {
  endRule();
  rules.value = explained.value = suggestions.value = null;
  search.value = done.value = wrong.value = "";
  kind.value = "all";
}
