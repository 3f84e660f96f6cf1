import { useEffect, useState } from "preact/hooks";
import { ask } from "../api";
import type { Call } from "../api.gen";
import { CallCard } from "../call/card";
import { agentName, projectName } from "../session";
import { actorName, go, place, stateWord, subjectOf } from "../state";
import { Icon } from "../ui/icon";
import { Foreign } from "../ui/text";
import { clock } from "../ui/time";
import { openPast, returnToRow } from "./move";
import { failed, known, loadMore, more, past } from "./store";

export function History() {
  const open = place.value.open;
  if (open) return <Past id={open} />;
  return (
    <main class="page">
      <div class="page-in">
        <header class="page-head">
          <h1>History</h1>
          <span class="muted is-wide">Every settled call, who or what decided it, and why.</span>
        </header>
        {past.value.length > 0 ? <Table /> : <p class="muted">{known.value ? "Nothing was decided yet." : ""}</p>}
        {more.value && (
          <p class="more">
            <button type="button" class="btn" data-act="more" onClick={() => void loadMore()}>
              More
            </button>
            <span role="status">{failed.value && "The gateway does not answer. Try again."}</span>
          </p>
        )}
      </div>
    </main>
  );
}

function Table() {
  useEffect(returnToRow, []);
  return (
    <table class="table is-fixed history">
      <thead>
        <tr>
          <th class="c-time">Time</th>
          <th class="c-out">Outcome</th>
          <th class="c-tool">Tool</th>
          <th>Call</th>
          <th class="c-sess">Project, agent</th>
          <th class="c-by">Decided by</th>
          <th class="c-why">Note</th>
        </tr>
      </thead>
      <tbody>
        {past.value.map((call) => (
          <Row key={call.id} call={call} />
        ))}
      </tbody>
    </table>
  );
}

function Row({ call }: { call: Call }) {
  const open = (event: MouseEvent) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    openPast(call.id);
  };
  const note = call.decided?.note;
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
          <Foreign text={subjectOf(call)} />
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

const kinds: Record<string, string> = { done: "done", failed: "failed", unknown: "outcome unknown" };

/** What became of it, and whether it is what the agent asked for. */
function Went({ call }: { call: Call }) {
  const parts = [call.outcome && (kinds[call.outcome.kind] ?? call.outcome.kind), call.edited && "edited"].filter(Boolean);
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
        {call.decided?.grant && <span class="sub">and remembered</span>}
      </>
    );
  }
  const rule = call.verdict.reasons?.find((r) => r.effect === call.verdict.effect && r.rule)?.rule;
  const what = call.decided?.grant ? "remembered" : "rule";
  if (!rule) return <span class="muted">{call.decided?.grant ? what : "policy"}</span>;
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
  const listed = past.value.find((c) => c.id === id);
  const [fetched, set] = useState<Call | null>(null);
  useEffect(() => {
    if (!listed) ask("Call", { params: { id } }).then(set, () => go("/history", "", "replace"));
  }, [id]);
  const call = listed ?? (fetched?.id === id ? fetched : null);
  return (
    <main class="panes is-card is-one">
      {call ? <CallCard call={call} onBack={() => go("/history")} readOnly /> : <div class="card" aria-busy="true" />}
    </main>
  );
}
