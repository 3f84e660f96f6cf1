import { useEffect, useState } from "preact/hooks";
import { ask } from "../api";
import type { Call } from "../api.gen";
import { CallCard } from "../call/card";
import { agentName, projectName } from "../session";
import { actorName, go, place, stateWord, subjectOf } from "../state";
import { Icon } from "../ui/icon";
import { beginning, Foreign } from "../ui/text";
import { clock, span } from "../ui/time";
import { t } from "../words/words";
import { AuditState } from "./audit";
import { Export } from "./export";
import { Filters } from "./filters";
import { openPast, returnToRow } from "./move";
import { failed, loadMore, looked, more, narrowed, past, shown } from "./store";

export function History() {
  const open = place.value.open;
  if (open) return <Past id={open} />;
  const { history: w } = t();
  return (
    <main class="page">
      <div class="page-in">
        <header class="page-head">
          <h1>{w.title}</h1>
          <span class="muted is-wide">{w.says}</span>
          <span class="grow" />
          <AuditState />
          <Export />
        </header>
        <Filters />
        {shown.value.length > 0 ? <Table /> : <p class="muted none">{looked.value ? (narrowed.value ? w.noMatch : w.nothing) : ""}</p>}
        {(more.value || failed.value) && (
          <p class="more">
            <button type="button" class="btn" data-act="more" onClick={() => void loadMore()}>
              {w.more}
            </button>
            <span role="status">{failed.value && w.noAnswer}</span>
          </p>
        )}
      </div>
    </main>
  );
}

function Table() {
  useEffect(returnToRow, []);
  const { history: w } = t();
  return (
    <table class="table is-fixed history">
      <thead>
        <tr>
          <th class="c-time">{w.time}</th>
          <th class="c-out">{w.outcome}</th>
          <th class="c-tool">{w.tool}</th>
          <th>{w.call}</th>
          <th class="c-sess">{w.project}</th>
          <th class="c-by">{w.by}</th>
          <th class="c-why">{w.why}</th>
          <th class="c-took">{w.took}</th>
        </tr>
      </thead>
      <tbody>
        {shown.value.map((call) => (
          <Row key={call.id} call={call} />
        ))}
      </tbody>
    </table>
  );
}

/** The words that came with the decision, else what the rules said. */
function why({ decided, verdict }: Call): string | undefined {
  return decided?.note || verdict.reasons?.find((r) => r.effect === verdict.effect)?.message;
}

function Took({ call: { created, decided } }: { call: Call }) {
  if (!decided) return null;
  const ms = Date.parse(decided.at) - Date.parse(created);
  return <>{ms < 1000 ? t().history.instant : span(ms)}</>;
}

function Row({ call }: { call: Call }) {
  const open = (event: MouseEvent) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    openPast(call.id);
  };
  const note = why(call);
  return (
    <tr data-settled={call.id} onClick={open}>
      <td class="muted nowrap">{clock(call.decided?.at ?? call.created)}</td>
      <td>
        <Verdict call={call} />
        <Went call={call} />
      </td>
      <td class="muted cut">
        <Foreign text={call.tool} />
      </td>
      <td class="cut">
        <a href={`/history#${call.id}`}>
          <Foreign text={call.card.says} />
        </a>
        <code class="sub cut">
          <Foreign text={beginning(subjectOf(call))} />
        </code>
      </td>
      <td class="cut" title={call.session.project}>
        <Foreign text={projectName(call.session)} />
        <span class="sub cut">
          <Foreign text={agentName(call.session)} />
        </span>
      </td>
      <td class="cut">
        <By call={call} />
      </td>
      <td class="cut muted" title={note}>
        <Foreign text={note} />
      </td>
      <td class="muted nowrap num">
        <Took call={call} />
      </td>
    </tr>
  );
}

const icons: Record<string, string> = { allowed: "yes", denied: "no", expired: "wait", withdrawn: "undo", revoked: "undo" };

function Verdict({ call }: { call: Call }) {
  const kind = call.state === "allowed" ? "is-allow" : call.state === "denied" ? "is-deny" : "";
  return (
    <span class={`verdict ${kind}`}>
      <Icon name={icons[call.state] ?? "wait"} />
      {stateWord(call)}
    </span>
  );
}

/** What became of it, and whether it is what the agent asked for. */
function Went({ call }: { call: Call }) {
  const kinds: Record<string, string> = t().history.outcomeKinds;
  const parts = [call.outcome && (kinds[call.outcome.kind] ?? call.outcome.kind), call.edited && t().history.edited].filter(Boolean);
  if (parts.length === 0) return null;
  return <span class={call.outcome && call.outcome.kind !== "done" ? "sub went is-bad" : "sub went"}>{parts.join(", ")}</span>;
}

function By({ call }: { call: Call }) {
  const by = call.decided?.by;
  if (!by) return null;
  if (by.kind !== "policy") {
    return (
      <>
        <Foreign text={actorName(by)} />
        {call.decided?.grant && <span class="sub">{t().history.andRemembered}</span>}
      </>
    );
  }
  const rule = call.verdict.reasons?.find((r) => r.effect === call.verdict.effect && r.rule)?.rule;
  const { history: w } = t();
  const what = call.decided?.grant ? w.remembered : w.rule;
  if (!rule) return <span class="muted">{call.decided?.grant ? what : w.policy}</span>;
  return (
    <>
      <span class="muted">{what} </span>
      <code>
        <Foreign text={rule} />
      </code>
    </>
  );
}

/** One settled call. It may be older than what the table holds. */
function Past({ id }: { id: string }) {
  const listed = [...past.value, ...shown.value].find((c) => c.id === id);
  const [fetched, set] = useState<Call | null>(null);
  useEffect(() => {
    if (!listed) ask("Call", { params: { id } }).then(set, () => go("/history", "", "replace"));
  }, [id]);
  const call = listed ?? (fetched?.id === id ? fetched : null);
  return (
    <main class="panes is-card is-one">
      <h1 class="hide">{t().history.title}</h1>
      {call ? <CallCard call={call} onBack={() => go("/history")} readOnly /> : <div class="card" aria-busy="true" />}
    </main>
  );
}
