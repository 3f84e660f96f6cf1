import type { Call, Reason } from "../api.gen";
import { actorName, isYou } from "../state";
import { beginning, Foreign } from "../ui/text";
import { clock } from "../ui/time";
import { Fill } from "../words/fill";
import { t } from "../words/words";
import { Bound, saysBound } from "./bound";
import { Since } from "./since";

/** Why the call is here, in the gateway's words; then what others say, last and set apart. */
export function Why({ call }: { call: Call }) {
  const words = t().call.why;
  const reasons = call.verdict.reasons ?? [];
  const errors = call.verdict.errors ?? [];
  const claims: [string, string, string | undefined][] = [
    [words.agentSays, words.claim, call.claim],
    [words.youAsked, words.hostTells, call.context?.prompt],
    [words.subAgent, words.itsWords, call.context?.via],
    [words.saidBefore, words.itsWords, call.context?.said],
  ];
  const told = claims.filter(([, , text]) => text);
  const ours = call.replaced || call.edited || reasons.length + errors.length > 0;
  return (
    <div class="cols">
      <div class="beyond">
      {ours && (
        <section>
          <div class="sect-head">
            <h3>{call.verdict.effect === "ask" ? words.asked : words.why}</h3>
          </div>
          <ul class="reasons">
            <Replaced call={call} />
            {reasons.map((r, i) => (
              <ReasonLine key={i} reason={r} />
            ))}
            {errors.map((e, i) => (
              <li key={`e${i}`} class="reason">
                <span class="label">{words.error}</span> <Foreign text={e} />
              </li>
            ))}
          </ul>
        </section>
      )}
      {saysBound(call) && (
        <section>
          <div class="sect-head">
            <h3>{t().bound.title}</h3>
          </div>
          <ul class="reasons">
            <Bound call={call} />
          </ul>
        </section>
      )}
      </div>
      <div class="beyond">
        <Since call={call} />
        {told.length > 0 && (
        <section class="claims">
          {told.map(([who, what, text]) => (
            <figure key={who} class="claim">
              <figcaption>
                <b>{who}</b>
                <span>{what}</span>
              </figcaption>
              <blockquote>
                <Foreign text={text} />
              </blockquote>
            </figure>
          ))}
        </section>
        )}
      </div>
    </div>
  );
}

/** Whose words these are, where they are not the agent's. */
function Replaced({ call: { edited, replaced } }: { call: Call }) {
  if (edited) {
    return (
      <li class="reason is-close">
        <Fill text={t().call.why.editedBy} gaps={{ who: isYou(edited.by) ? t().ui.you : actorName(edited.by), time: clock(edited.at) }} />
      </li>
    );
  }
  return replaced ? <li class="reason is-close">{t().call.why.replaced}</li> : null;
}

function ReasonLine({ reason }: { reason: Reason }) {
  const { effect, message, part } = reason;
  return (
    <li class={effect === "allow" ? "reason muted" : "reason"}>
      <span class="label">{t().call.why.because[effect] ?? effect}</span> <Message text={message} part={part} />
      <Source reason={reason} />
    </li>
  );
}

/** Where it is written. What holds without a rule is written nowhere. */
function Source({ reason: { layer, rule, source } }: { reason: Reason }) {
  if (!rule && layer === "default") return null;
  return (
    <span class="src">
      {rule && (
        <>
          <code>
            <Foreign text={rule} />
          </code>
          {" · "}
        </>
      )}
      <Foreign text={t().call.why.layer(layer)} />
      {source && (
        <>
          {" · "}
          <Foreign text={source} />
        </>
      )}
    </span>
  );
}

/** The part that was asked about is underlined where the message names it, or stands before it. */
function Message({ text, part }: { text: string; part: string | undefined }) {
  if (!part) return <Foreign text={text} />;
  const mark = (
    <code class="asked">
      <Foreign text={beginning(part)} />
    </code>
  );
  const at = text.indexOf(part);
  const named = text.lastIndexOf(": ") + 2;
  if (at < 0 && named > 1 && part.startsWith(text.slice(named))) {
    // The message names it in short.
    return (
      <>
        <Foreign text={text.slice(0, named)} />
        {mark}
      </>
    );
  }
  if (at < 0) {
    return (
      <>
        {mark} <Foreign text={text} />
      </>
    );
  }
  return (
    <>
      <Foreign text={text.slice(0, at)} />
      {mark}
      <Foreign text={text.slice(at + part.length)} />
    </>
  );
}
