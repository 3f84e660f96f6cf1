import { signal } from "@preact/signals";
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";
import type { Call } from "../api.gen";
import { outcome } from "../call/decision";
import { ModeControl } from "../modes/control";
import { agentName, projectName } from "../session";
import { isSettled, subjectOf } from "../state";
import { Help, helpOpen } from "../ui/help";
import { Icon } from "../ui/icon";
import { beginning, Foreign } from "../ui/text";
import { Since } from "../ui/time";
import { t } from "../words/words";
import { choose, isNarrow, stayInList } from "./move";
import { filter, groups, hover, order, sameAs, see, selected, unseen, visible, type Group, type Run } from "./store";
import { beyond, cut, drawnWhole, narrow, topOf, wide, type Piece } from "./window";

/** Where the list is scrolled to, in steps: it is not drawn anew for every pixel. */
const scrolled = signal(0);
const height = signal(0);
const step = 200;

export function List() {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => () => hover(false), []);
  useEffect(() => follow(box.current!), []);
  useLayoutEffect(() => bringIntoView(box.current!), [selected.value]);
  useEffect(() => lookAtRows(box.current!), [unseen.value, scrolled.value, height.value, order.value]);
  // A finger has no place to leave from, so only a mouse holds the rows.
  const over = (is: boolean) => (event: PointerEvent) => event.pointerType === "mouse" && hover(is);
  return (
    <section class="list" aria-label={t().queue.list} onPointerEnter={over(true)} onPointerLeave={over(false)}>
      <div class="list-tools">
        <label class="field grow">
          <Icon name="find" />
          <span class="hide">{t().queue.filter}</span>
          <input
            type="search"
            data-field="filter"
            placeholder={t().queue.filterHint}
            value={filter.value}
            onInput={(e) => {
              filter.value = e.currentTarget.value;
              stayInList();
            }}
          />
          <kbd class="wide">/</kbd>
        </label>
      </div>
      <div
        class="list-scroll"
        ref={box}
        tabIndex={0}
        role="region"
        aria-label={t().queue.bySession}
        onScroll={(e) => (scrolled.value = Math.floor(e.currentTarget.scrollTop / step) * step)}
      >
        {drawn().map((piece, i) =>
          "gap" in piece ? <Gap key={`gap ${i}`} height={piece.gap} /> : <SessionGroup key={piece.group.key} group={piece.group} pieces={piece.pieces} />,
        )}
        {groups.value.length === 0 && <p class="idle">{order.value.length > 0 ? t().queue.noMatch : t().queue.none}</p>}
      </div>
      <Help />
      <footer class="list-foot">
        <span>
          <kbd>J</kbd> <kbd>K</kbd> {t().queue.move}
        </span>
        <button type="button" class="btn is-link" aria-expanded={helpOpen.value} onClick={() => (helpOpen.value = !helpOpen.value)}>
          <kbd>?</kbd> {t().queue.allKeys}
        </button>
        <span class="grow" />
        <NewBelow box={() => box.current!} />
      </footer>
    </section>
  );
}

const sizes = () => (isNarrow() ? narrow : wide);

function drawn(): Piece[] {
  if (visible.value.length <= drawnWhole) return groups.value.map((group) => ({ group, pieces: group.runs.map((run) => ({ run })) }));
  return cut(groups.value, scrolled.value - beyond, scrolled.value + step + height.value + beyond, sizes());
}

/** Room for what is not drawn. The page allows no style attribute, but a picture has a height. */
function Gap({ height }: { height: number }) {
  return <svg class="gap" width="1" height={height} aria-hidden="true" />;
}

function follow(box: HTMLElement): () => void {
  const measure = () => (height.value = box.clientHeight);
  measure();
  scrolled.value = 0;
  const watch = new ResizeObserver(measure);
  watch.observe(box);
  return () => watch.disconnect();
}

/** A row that is not drawn yet is scrolled to by its place. */
function bringIntoView(box: HTMLElement): void {
  if (selected.value === null) return;
  const row = box.querySelector(".row[aria-current]");
  if (row) row.scrollIntoView({ block: "nearest" });
  else if (visible.value.length > drawnWhole) scrollTo(box, selected.value);
}

function scrollTo(box: HTMLElement, id: string): void {
  const top = topOf(groups.value, id, sizes());
  if (top >= 0) box.scrollTop = Math.max(0, top - box.clientHeight / 2);
  scrolled.value = Math.floor(box.scrollTop / step) * step;
}

/** Rows that are within the edges count as seen. */
function lookAtRows(box: HTMLElement): void {
  if (unseen.value.size === 0) return;
  const { top, bottom } = box.getBoundingClientRect();
  const inside = (e: Element) => {
    const r = e.getBoundingClientRect();
    return r.bottom <= bottom + 8 && r.top >= top - 8;
  };
  see([...unseen.value].filter((id) => id === selected.value || [...box.querySelectorAll(`[data-call="${CSS.escape(id)}"]`)].some(inside)));
}

/** New work out of sight is told here: nothing moves to make room for it. */
function NewBelow({ box }: { box: () => HTMLElement }) {
  const n = unseen.value.size;
  if (n === 0) return null;
  const show = () => {
    const first = visible.value.find((id) => unseen.value.has(id));
    if (first === undefined) return;
    scrollTo(box(), first);
    box().querySelector<HTMLElement>(`[data-call="${CSS.escape(first)}"]`)?.scrollIntoView({ block: "center" });
    lookAtRows(box());
  };
  return (
    <button type="button" class="btn is-small is-new" data-act="show-new" aria-label={t().queue.showNew(n)} onClick={show}>
      {t().queue.below(n)}
      <Icon name="down" />
    </button>
  );
}

function SessionGroup({ group: { agent, session, waiting }, pieces }: { group: Group; pieces: ({ gap: number } | { run: Run })[] }) {
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
        <span class="muted">{waiting > 0 && t().queue.inReview(waiting)}</span>
      </header>
      {pieces.map((piece, i) => ("gap" in piece ? <Gap key={`gap ${i}`} height={piece.gap} /> : <BatchRun key={piece.run.calls[0]!.id} run={piece.run} />))}
    </section>
  );
}

function BatchRun({ run }: { run: Run }) {
  // Rows draw themselves anew: scrolling past them must not.
  const rows = useMemo(
    () => (
      <ol>
        {run.calls.map((call) => (
          <li key={call.id}>
            <Row call={call} />
          </li>
        ))}
      </ol>
    ),
    [run],
  );
  if (run.size < 2) return rows;
  return (
    <div class="batch">
      <div class="batch-head">
        <span class="grow" title={t().queue.opensTitle}>
          {t().queue.batch(run.size)}, {stillWaits(run)}
        </span>
      </div>
      {rows}
    </div>
  );
}

function stillWaits({ size, waiting }: Run): string {
  if (waiting === 0 || waiting >= size) return t().queue.opensWhen;
  return t().queue.stillWait(waiting);
}

function Row({ call }: { call: Call }) {
  const settled = isSettled(call);
  const named = settled ? { "data-settled": call.id } : { "data-call": call.id };
  const asked = call.verdict.reasons?.some((r) => r.effect === "ask" && r.rule) ?? false;
  const names = ["row", asked && "is-close", settled && "is-settled"].filter(Boolean).join(" ");
  const prose = call.kind !== "permission";
  const same = sameAs(call).length;
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
        {same > 1 && <span class="chip" data-same={same}>{t().queue.times(same)}</span>}
        <span class="row-age">{settled ? "" : <Since at={call.created} />}</span>
      </span>
      <span class="row-line">
        <span class={prose ? "row-text" : "row-text mono"}>
          <Foreign text={beginning(subjectOf(call))} />
        </span>
      </span>
    </a>
  );
}
