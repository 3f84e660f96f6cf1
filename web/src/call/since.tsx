import type { Call } from "../api.gen";
import { actorName, go, isYou } from "../state";
import { Foreign } from "../ui/text";
import { clock } from "../ui/time";
import { t } from "../words/words";
import { thing } from "./strip";

/** What is new since a call like it was allowed in the project, as the gateway tells. */
export function Since({ call }: { call: Call }) {
  if (!call.before) return null;
  const { of, count, call: last, by, at, exactly, fresh = [] } = call.before;
  const words = t().call.since;
  return (
    <section class="since">
      <div class="sect-head">
        <h3>{words.title}</h3>
      </div>
      {by && at ? (
        <p>
          <a href={`/history#${last}`} onClick={(e) => (e.preventDefault(), go("/history", last))}>
            <Foreign text={words.before(count, isYou(by) ? t().ui.you : actorName(by), clock(at))} />
          </a>{" "}
          {exactly ? words.exactly : fresh.length === 0 ? words.same : <b>{words.fresh}</b>}
        </p>
      ) : (
        <p class="muted">{of === 0 ? words.none : words.first(of)}</p>
      )}
      {!exactly && fresh.length > 0 && (
        <ul class="fresh">
          {fresh.map((x, i) => (
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
