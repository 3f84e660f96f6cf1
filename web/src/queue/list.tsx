import { useEffect } from "preact/hooks";
import type { Call } from "../api.gen";
import { outcome } from "../call/decision";
import { ModeControl } from "../modes/control";
import { agentName, projectName } from "../session";
import { isSettled, subjectOf } from "../state";
import { Help, helpOpen } from "../ui/help";
import { Icon } from "../ui/icon";
import { Foreign } from "../ui/text";
import { Since } from "../ui/time";
import { choose, stayInList } from "./move";
import { filter, groups, hover, order, selected, type Group, type Run } from "./store";

export function List() {
  useEffect(() => () => hover(false), []);
  useEffect(() => document.querySelector(".row[aria-current]")?.scrollIntoView({ block: "nearest" }), [selected.value]);
  // A finger has no place to leave from, so only a mouse holds the rows.
  const over = (is: boolean) => (event: PointerEvent) => event.pointerType === "mouse" && hover(is);
  return (
    <section class="list" aria-label="Waiting calls" onPointerEnter={over(true)} onPointerLeave={over(false)}>
      <div class="list-tools">
        <label class="field grow">
          <Icon name="find" />
          <span class="hide">Filter</span>
          <input
            type="search"
            data-field="filter"
            placeholder="Filter by tool, path, agent, session"
            value={filter.value}
            onInput={(e) => {
              filter.value = e.currentTarget.value;
              stayInList();
            }}
          />
          <kbd class="wide">/</kbd>
        </label>
      </div>
      <div class="list-scroll" tabIndex={0} role="region" aria-label="Calls by session">
        {groups.value.map((g) => (
          <SessionGroup key={g.key} group={g} />
        ))}
        {groups.value.length === 0 && (
          <p class="idle">{order.value.length > 0 ? "No call has these words." : "No call waits."}</p>
        )}
      </div>
      <Help />
      <footer class="list-foot">
        <span>
          <kbd>J</kbd> <kbd>K</kbd> move
        </span>
        <span>
          <kbd>/</kbd> filter
        </span>
        <button type="button" class="btn is-link" aria-expanded={helpOpen.value} onClick={() => (helpOpen.value = !helpOpen.value)}>
          <kbd>?</kbd> all keys
        </button>
      </footer>
    </section>
  );
}

function SessionGroup({ group: { agent, session, runs } }: { group: Group }) {
  const waiting = runs.flatMap((r) => r.calls).filter((c) => !isSettled(c)).length;
  return (
    <section class="session">
      <header class="session-head">
        <h2>
          <Foreign text={projectName(session)} />
        </h2>
        <span class="muted grow">
          <Foreign text={agentName(session)} />
        </span>
        <ModeControl of={{ agent, session }} />
        <span class="muted">{waiting}</span>
      </header>
      {runs.map((run) => (
        <BatchRun key={run.calls[0]!.id} run={run} />
      ))}
    </section>
  );
}

function BatchRun({ run }: { run: Run }) {
  const rows = (
    <ol>
      {run.calls.map((call) => (
        <li key={call.id}>
          <Row call={call} />
        </li>
      ))}
    </ol>
  );
  if (run.size < 2) return rows;
  return (
    <div class="batch">
      <div class="batch-head">
        <span class="grow" title="Opens when all are settled">
          Batch of {run.size}, {stillWaits(run)}
        </span>
      </div>
      {rows}
    </div>
  );
}

function stillWaits({ size, waiting }: Run): string {
  if (waiting === 0 || waiting >= size) return "opens when all are settled";
  return waiting === 1 ? "1 still waits" : `${waiting} still wait`;
}

function Row({ call }: { call: Call }) {
  const settled = isSettled(call);
  const named = settled ? { "data-settled": call.id } : { "data-call": call.id };
  const asked = call.verdict.reasons?.some((r) => r.effect === "ask" && r.rule) ?? false;
  const names = ["row", asked && "is-close", settled && "is-settled"].filter(Boolean).join(" ");
  const prose = call.kind !== "permission";
  return (
    <a
      {...named}
      class={names}
      href={`/#${call.id}`}
      aria-current={selected.value === call.id ? "true" : undefined}
      onClick={(event) => {
        event.preventDefault();
        choose(call.id);
      }}
    >
      <Icon name={settled ? (call.state === "allowed" ? "yes" : "no") : call.card.icon} />
      <span class="row-line">
        <span class="row-what">
          <Foreign text={settled ? outcome(call) : call.card.says} />
        </span>
        <span class="row-age">{settled ? "" : <Since at={call.created} />}</span>
      </span>
      <span class="row-line">
        <span class={prose ? "row-text" : "row-text mono"}>
          <Foreign text={subjectOf(call)} />
        </span>
      </span>
    </a>
  );
}
