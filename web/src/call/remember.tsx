import type { Call, Offer, Remember, Terms } from "../api.gen";
import { SessionModes } from "../modes/shortcuts";
import { shortest, timeName } from "../modes/words";
import { basename, Foreign } from "../ui/text";
import { Fill } from "../words/fill";
import { t } from "../words/words";
import { Trial } from "./trial";

/** What a person is about to have remembered, as it stands in the fields. */
export interface Draft {
  scope: string; // "" is once
  match: string;
  uses: string;
  seconds: number; // 0 is for as long as the scope
  /** A mode for the session instead, or "". */
  mode: string;
  bypass: number; // seconds
}

const times = [0, 15 * 60, 3600, 8 * 3600, 24 * 3600, 30 * 24 * 3600];

function timeWords(seconds: number): string {
  const { noLimit, times: unit } = t().call.remember;
  if (seconds === 0) return noLimit;
  if (seconds < 3600) return unit.min(seconds / 60);
  return seconds < 24 * 3600 ? unit.h(seconds / 3600) : unit.d(seconds / (24 * 3600));
}

/** The narrowest that can be remembered. */
export function firstDraft({ remember = [] }: Call): Draft {
  const first = remember.find((r) => r.match);
  return { scope: first?.scope ?? "", match: first?.match ?? "", uses: "", seconds: 0, mode: "", bypass: shortest };
}

/** What the fields say, or null while they say nothing that could be sent. */
export function termsOf({ scope, match, uses, seconds, mode }: Draft): Terms | null {
  if (mode !== "" || scope === "" || match.trim() === "" || !/^(|[1-9]\d{0,6})$/.test(uses.trim())) return null;
  const terms: Terms = { scope, match: match.trim() };
  if (seconds > 0) terms.for_seconds = seconds;
  if (uses.trim()) terms.uses = Number(uses);
  return terms;
}

export function buttonOf({ scope, mode, bypass }: Draft): { button: string; short: string } {
  const words = t().call.remember;
  switch (mode) {
    case "":
      return words.scopes[scope] ?? words.scopes[""]!;
    case "acceptEdits":
      return words.edits;
    default:
      return words.all(timeName(bypass));
  }
}

interface Props {
  call: Call;
  draft: Draft;
  change: (draft: Draft) => void;
}

export function RememberForm({ call, draft, change }: Props) {
  const words = t().call.remember;
  const { remember = [] } = call;
  const chosen = remember.find((r) => r.scope === draft.scope);
  const suggestion = chosen?.match ?? "";
  const never = sameRefusal(remember);
  const choose = (r?: Remember) => {
    // Words of the person's own stay, and an offer that the scope has, too;
    // another gives way to the suggestion.
    const own = remember.every((o) => !offers(o, draft.match)) || (r !== undefined && offers(r, draft.match));
    change({ ...draft, mode: "", scope: r?.scope ?? "", match: own && draft.match ? draft.match : (r?.match ?? draft.match) });
  };
  return (
    <>
      <fieldset>
        <legend class="hide">{words.howLong}</legend>
        <div class="choices is-row">
          <Choice scope="" draft={draft} choose={() => choose()} small={words.onlyThis} />
          {remember.map((r) => (
            <Choice key={r.scope} scope={r.scope} draft={draft} choose={() => choose(r)} small={reach(call, r.scope)} refused={never ? "" : r.refused} />
          ))}
        </div>
        {never && (
          <p class="hint">
            <Fill text={words.never} gaps={{ why: <Foreign text={never} /> }} />
          </p>
        )}
      </fieldset>
      <SessionModes call={call} draft={draft} change={change} />
      {draft.scope !== "" && draft.mode === "" && (
        <>
          <section>
            <div class="sect-head">
              <h3 class="grow">{words.what}</h3>
              {draft.match !== suggestion && (
                <button type="button" class="btn is-link" onClick={() => change({ ...draft, match: suggestion })}>
                  {words.suggested}
                </button>
              )}
            </div>
            {(chosen?.offers?.length ?? 0) > 1 && (
              <fieldset>
                <legend class="hide">{words.howMuch}</legend>
                <div class="choices">
                  {chosen?.offers?.map((o) => (
                    <OfferChoice key={o.match} offer={o} checked={draft.match === o.match} choose={() => change({ ...draft, match: o.match })} />
                  ))}
                </div>
              </fieldset>
            )}
            <div class="rule-box">
              <label class="rule-line">
                <span class="muted">{words.allow}</span>
                <span class="hide">{words.matcher}</span>
                <textarea
                  class="mono"
                  data-field="match"
                  rows={Math.ceil(draft.match.length / 60) || 1}
                  spellcheck={false}
                  autocomplete="off"
                  value={draft.match}
                  onInput={(e) => change({ ...draft, match: e.currentTarget.value.replaceAll("\n", " ") })}
                  onKeyDown={(e) => e.key === "Enter" && e.preventDefault()}
                />
              </label>
              <p class="rule-says">
                {words.covers}
              </p>
              <Trial call={call} scope={draft.scope} match={draft.match} />
            </div>
          </section>
          <div class="row-form">
            <label class={termsOf({ ...draft, match: "x" }) ? "lab" : "lab is-wrong"}>
              {words.atMost}
              <input
                type="text"
                class="text"
                inputMode="numeric"
                data-field="uses"
                placeholder={words.anyNumber}
                value={draft.uses}
                onInput={(e) => change({ ...draft, uses: e.currentTarget.value })}
              />
              <small>{words.thenAsks}</small>
            </label>
            <label class="lab">
              {words.for}
              <select
                class="text"
                data-field="time"
                value={String(draft.seconds)}
                onChange={(e) => change({ ...draft, seconds: Number(e.currentTarget.value) })}
              >
                {times.map((seconds) => (
                  <option key={seconds} value={String(seconds)}>
                    {timeWords(seconds)}
                  </option>
                ))}
              </select>
              <small>{words.fromNow}</small>
            </label>
          </div>
        </>
      )}
    </>
  );
}

/** The one reason why nothing of it is remembered, if it is one. */
function sameRefusal(remember: readonly Remember[]): string {
  const why = remember[0]?.refused;
  return why && remember.every((r) => r.refused === why) ? why : "";
}

function offers(r: Remember, match: string): boolean {
  return r.match === match || (r.offers ?? []).some((o) => o.match === match);
}

interface OfferProps {
  offer: Offer;
  checked: boolean;
  choose: () => void;
}

function OfferChoice({ offer, checked, choose }: OfferProps) {
  return (
    <label class="choice">
      <input type="radio" name="offer" value={offer.match} checked={checked} onChange={choose} />
      <b>{offerName(offer.match)}</b>
      <small class="mono">
        <Foreign text={offer.match} />
      </small>
      {offer.also && (
        <small class="also">
          <Fill text={t().call.remember.also} gaps={{ list: <Foreign text={offer.also.join(", ")} /> }} />
        </small>
      )}
    </label>
  );
}

function offerName(match: string): string {
  const words = t().call.remember.names;
  switch (true) {
    case match.startsWith("Bash("):
      return match.endsWith(":*)") ? words.any : words.command;
    case match.endsWith("/**)"):
      return words.folder;
    case match.includes("("):
      return words.file;
    default:
      return words.tool;
  }
}

interface ChoiceProps {
  scope: string;
  draft: Draft;
  choose: () => void;
  small: string;
  refused?: string | undefined; // "" where the reason stands elsewhere
}

function Choice({ scope, draft, choose, small, refused }: ChoiceProps) {
  return (
    <label class={refused === undefined ? "choice" : "choice is-refused"}>
      <input type="radio" name="scope" value={scope} checked={draft.mode === "" && draft.scope === scope} disabled={refused !== undefined} onChange={choose} />
      <b>{t().call.remember.scopes[scope]?.name ?? scope}</b>
      <small>
        {refused ? t().call.remember.no : refused === "" && t().call.remember.notPossible}
        <Foreign text={refused ?? small} />
      </small>
    </label>
  );
}

function reach({ session }: Call, scope: string): string {
  switch (scope) {
    case "session":
      return t().call.remember.untilEnd;
    case "project":
      return session.project ? basename(session.project) : "";
    default:
      return t().call.remember.everyProject;
  }
}
