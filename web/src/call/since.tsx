import type { Call, Touch } from "../api.gen";
import { past } from "../history/store";
import { actorName, isYou } from "../state";
import { Foreign } from "../ui/text";
import { clock } from "../ui/time";
import { t } from "../words/words";
import { thing } from "./strip";

/** Calls of the same agent that people allowed and that do the same kind of thing, newest first. */
export function similar(call: Call, settled: readonly Call[]): Call[] {
  const kind = signature(call);
  return settled.filter((c) => c.id !== call.id && c.agent === call.agent && c.state === "allowed" && c.decided?.by.kind === "person" && signature(c) === kind);
}

/** Programs with their verbs; a file by its name; any other tool by its own. */
function signature({ tool, verdict, card }: Call): string {
  const { needs } = verdict;
  return JSON.stringify([tool, needs?.type === "command" ? needs.command_signature : needs?.paths?.[0] ?? (card.icon === "file" ? card.subject : "")]);
}

const key = ({ does, what, outside, secret }: Touch) => JSON.stringify([does, what, outside, secret]);

/** What a call touches that none of the others did. */
export function fresh({ card }: Call, others: readonly Call[]): Touch[] {
  const known = new Set(others.flatMap((c) => (c.card.touches ?? []).map(key)));
  return (card.touches ?? []).filter((x, i, all) => !known.has(key(x)) && all.findIndex((o) => key(o) === key(x)) === i);
}

/** What is new since a similar call was allowed, as far as the page has seen. */
export function Since({ call }: { call: Call }) {
  const settled = past.value;
  if (call.state !== "pending" || call.kind !== "permission" || settled.length === 0) return null;
  const words = t().call.since;
  const before = similar(call, settled);
  const by = before[0]?.decided;
  const same = before.some((c) => c.card.subject === call.card.subject && c.dir === call.dir && JSON.stringify(c.input) === JSON.stringify(call.input));
  const news = fresh(call, before);
  return (
    <section class="since">
      <div class="sect-head">
        <h3>{words.title}</h3>
      </div>
      {by ? (
        <p>
          <Foreign text={words.before(before.length, isYou(by.by) ? t().ui.you : actorName(by.by), clock(by.at))} />{" "}
          {same ? words.exactly : news.length === 0 ? words.same : <b>{words.fresh}</b>}
        </p>
      ) : (
        <p class="muted">{words.first(settled.length)}</p>
      )}
      {by && !same && news.length > 0 && (
        <ul class="fresh">
          {news.map((x, i) => (
            <li key={i}>
              {t().call.effects.does[x.does] ?? x.does}{" "}
              <code>
                <Foreign text={thing(x, call.session.project)} />
              </code>
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}
