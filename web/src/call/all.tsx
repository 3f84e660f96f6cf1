// Deciding several calls of a batch at once: each is listed, ticked by itself,
// and decided by its own digest.

import { useState } from "preact/hooks";
import { ask } from "../api";
import type { Call } from "../api.gen";
import { moveOn } from "../queue/move";
import { calls } from "../queue/store";
import { badNews, isSettled, link, news, subjectOf, tell } from "../state";
import { putCall } from "../sync";
import { Icon } from "../ui/icon";
import { Foreign } from "../ui/text";
import { t } from "../words/words";
import { Act } from "./act";
import { StepBar } from "./beside";
import { Bare } from "./blocks";
import { decide, sending } from "./decision";
import { cellsOf, graveOf } from "./effects";
import { longPieces } from "./long";
import { News } from "./news";
import { headline } from "./says";
import { Pips } from "./strip";

/** The calls of the batch that still wait, in their order. */
export function restOf(call: Call): Call[] {
  return [...calls.value.values()].filter((c) => c.batch.id === call.batch.id && !isSettled(c)).toSorted((a, b) => a.batch.position - b.batch.position);
}

/** Looks at those that are only known as rows of a long list. */
export async function lookAtRest(call: Call): Promise<void> {
  const look = async ({ id }: Call) => putCall(await ask("Call", { params: { id } }));
  await Promise.allSettled(restOf(call).filter((c) => c.brief).map(look));
}

/** Whether a call can be decided from a list: what needs a form, a closer look or more room can't. */
export function listable(call: Call): boolean {
  return !call.brief && call.kind === "permission" && longPieces(call).length === 0 && graveOf(call) === null;
}

function close(call: Call): boolean {
  const cells = cellsOf(call.card);
  return cells === null || cells.some((c) => c.close || !c.known);
}

interface Props {
  call: Call;
  ticked: ReadonlySet<string>;
  tick: (ids: ReadonlySet<string>) => void;
}

/** Those that start with a tick: nothing to look at closely. */
export function firstTicks(call: Call): ReadonlySet<string> {
  return new Set(restOf(call).filter((c) => listable(c) && !close(c)).map((c) => c.digest));
}

export function AllList({ call, ticked, tick }: Props) {
  const words = t().call.all;
  const rest = restOf(call);
  const toggle = (d: string) => tick(new Set(ticked.has(d) ? [...ticked].filter((x) => x !== d) : [...ticked, d]));
  return (
    <div class="card-body">
      <h3 class="big">{words.title(rest.length)}</h3>
      <p class="hint">{words.hint}</p>
      <ol class="all">
        {rest.map((c) => (
          <li key={c.id} class={close(c) ? "is-close" : undefined} data-all={c.id}>
            <input
              type="checkbox"
              id={`all ${c.id}`}
              aria-label={words.tick(c.batch.position)}
              disabled={!listable(c)}
              checked={listable(c) && ticked.has(c.digest)}
              onChange={() => toggle(c.digest)}
            />
            <span class="muted">{c.batch.position}</span>
            <label for={`all ${c.id}`}>
              <Icon name={c.card.icon} /> <Foreign text={headline(c)} />
              <code class="sub">
                <Foreign text={subjectOf(c)} />
              </code>
              {!listable(c) && <small class="muted">{words.look}</small>}
            </label>
            <Pips call={c} />
            {/* A command is whole in its line; what is not is shown below it. */}
            {listable(c) && !(c.card.blocks.length === 1 && c.card.blocks[0]!.kind === "command") && (
              <div class="all-full">
                <Bare call={c} />
              </div>
            )}
          </li>
        ))}
      </ol>
    </div>
  );
}

export function AllBar({ call, ticked, armed, go }: { call: Call; ticked: ReadonlySet<string>; armed: boolean; go: () => void }) {
  const [busy, setBusy] = useState(false);
  const words = t().call.all;
  const chosen = restOf(call).filter((c) => listable(c) && ticked.has(c.digest));
  const off = busy || link.value !== "live" || sending.value !== null || chosen.length === 0;
  const send = async (state: "allowed" | "denied") => {
    setBusy(true);
    let n = 0;
    // One after the other: the first that fails says why, and the rest stay.
    for (const c of chosen) {
      if (!(await decide(c, { state }, true))) break;
      n++;
    }
    setBusy(false);
    const why = news.value?.text;
    go();
    if (n > 0) moveOn(call.id);
    if (n === chosen.length) tell({ text: state === "allowed" ? words.allowed(n) : words.denied(n), icon: state === "allowed" ? "yes" : "no" });
    else tell(badNews([words.some(n, chosen.length), why].filter(Boolean).join(" ")));
  };
  return (
    <StepBar back={go} status={news.value ? <News /> : null}>
      <Act act="all-deny" class="is-also" armed={armed} off={off} press={() => void send("denied")}>
        {words.deny(chosen.length)}
      </Act>
      <Act act="all-allow" class="is-yes is-main" armed={armed} off={off} press={() => void send("allowed")}>
        {words.allow(chosen.length)}
      </Act>
    </StepBar>
  );
}
