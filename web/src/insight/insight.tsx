import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { ask } from "../api";
import type { AskedFor, Day, Insight as Data } from "../api.gen";
import { beginRule } from "../rules/store";
import { go } from "../state";
import { Seg } from "../ui/seg";
import { Foreign } from "../ui/text";
import { Fill } from "../words/fill";
import { t } from "../words/words";
import { Bars, Line } from "./chart";

const data = signal<Data | null>(null);
const days = signal(30);
const every = 500;

function watch(): () => void {
  let over = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const look = async () => {
    const got = await ask("Insight", { query: { days: days.value, offset: -new Date().getTimezoneOffset() } }).catch(() => null);
    if (over) return;
    if (got) data.value = got;
    if (!got?.work.ready) timer = setTimeout(() => void look(), every);
  };
  void look();
  return () => {
    over = true;
    clearTimeout(timer);
  };
}

export function Insight() {
  useEffect(watch, [days.value]);
  const { insight: w } = t();
  const d = data.value;
  const periods = Object.fromEntries([7, 30, 90].map((n) => [String(n), w.days(n)]));
  return (
    <main class="page">
      <div class="page-in">
        <header class="page-head">
          <h1>{w.title}</h1>
          <span class="grow" />
          <Seg name="period" label={w.period} value={String(days.value)} options={periods} choose={(n) => (days.value = Number(n))} />
        </header>
        {d && <Told d={d} />}
      </div>
    </main>
  );
}

function Told({ d }: { d: Data }) {
  const { insight: w } = t();
  const n = d.days.length;
  if (!d.work.ready && d.calls === 0) return <p class="muted">{w.reading(d.work.done)}</p>;
  return (
    <>
      <p class="lead" data-asked={d.asked}>
        {d.calls === 0 ? (
          w.nothing
        ) : (
          <Fill
            text={d.half_millis > 0 ? w.lead(n) : w.leadNone(n)}
            gaps={{ rules: <b>{w.ofCalls(d.rules, d.calls)}</b>, asked: <b>{w.times(d.asked)}</b>, half: <b>{took(d.half_millis)}</b> }}
          />
        )}
      </p>
      <Figures d={d} />
      {d.most.length > 0 && <Most list={d.most} />}
    </>
  );
}

const took = (ms: number) => (timed(Math.max(100, ms)));
const timed = (ms: number) => t().insight.seconds(ms < 10_000 ? Math.round(ms / 100) / 10 : Math.round(ms / 1000));
const percent = (n: number, of: number) => (of === 0 ? 0 : Math.round((100 * n) / of));
const share = (day: Day) => (day.calls === 0 ? null : percent(day.rules, day.calls));
const half = (day: Day) => (day.half_millis === 0 ? null : Math.round(day.half_millis / 100) / 10);

/** The day alone: its time is nobody's matter. */
function dayOf(date: string): string {
  const [, month, day] = date.split("-").map(Number);
  return t().ui.day(day!, month! - 1);
}

function Figures({ d }: { d: Data }) {
  const { insight: w } = t();
  const list = d.days;
  const lastOf = (f: (day: Day) => number | null) => list.map(f).findLast((v) => v !== null) ?? 0;
  const on = (f: (day: Day) => string) => (i: number) => w.bar(list[i]!.date, f(list[i]!));
  const ends: [string, string] = [dayOf(list[0]!.date), dayOf(list.at(-1)!.date)];
  const most = Math.max(...list.map((day) => day.asked));
  const quick = list.reduce((n, day) => n + day.quick, 0);
  return (
    <div class="figures">
      <Figure title={w.perDay} says={w.perDaySays(most)}>
        <Bars label={`${w.perDay}. ${w.perDaySays(most)}`} values={list.map((x) => x.asked)} say={on((x) => String(x.asked))} ends={ends} least={4} last={String(list.at(-1)?.asked ?? 0)} />
      </Figure>
      <Figure title={w.share} says={w.shareSays(percent(d.rules, d.calls))}>
        <Line label={`${w.share}. ${w.shareSays(percent(d.rules, d.calls))}`} values={list.map(share)} say={on((x) => w.percent(share(x) ?? 0))} ends={ends} least={100} last={w.percent(lastOf(share))} />
      </Figure>
      <Figure title={d.half_millis > 0 ? w.half(took(d.half_millis)) : w.halfNone} says={w.halfSays}>
        <Line label={`${w.half(took(d.half_millis))}. ${w.halfSays}`} values={list.map(half)} say={on((x) => took(x.half_millis))} ends={ends} least={4} last={w.seconds(lastOf(half))} />
      </Figure>
      <Figure title={w.quick(quick)} says={w.quickSays}>
        <Bars label={`${w.quick(quick)}. ${w.quickSays}`} values={list.map((x) => x.quick)} say={on((x) => String(x.quick))} ends={ends} least={4} last={String(list.at(-1)?.quick ?? 0)} />
      </Figure>
    </div>
  );
}

function Figure({ title, says, children }: { title: string; says: string; children: preact.ComponentChildren }) {
  return (
    <figure class="figure">
      <h2>{title}</h2>
      <p>{says}</p>
      {children}
    </figure>
  );
}

function Most({ list }: { list: readonly AskedFor[] }) {
  const { insight: w } = t();
  return (
    <section>
      <h2 class="most-head">{w.most}</h2>
      <table class="table asked-most">
        <thead>
          <tr>
            <th>{w.call}</th>
            <th>{w.asked}</th>
            <th>{w.allowed}</th>
            <th>{w.median}</th>
            <th>
              <span class="hide">{w.action}</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {list.map((a) => (
            <Row key={`${a.tool} ${a.what}`} of={a} />
          ))}
        </tbody>
      </table>
    </section>
  );
}

function Row({ of: a }: { of: AskedFor }) {
  const { insight: w } = t();
  const yes = percent(a.allowed, a.allowed + a.denied);
  const effect = a.denied > a.allowed ? "deny" : "allow";
  const make = () => {
    go("/rules");
    beginRule({ effect, call: a.call, match: "" });
  };
  return (
    <tr data-most={a.what}>
      <td>
        <code>
          <Foreign text={a.what} />
        </code>{" "}
        {a.what !== a.tool && (
          <span class="muted">
            <Foreign text={a.tool} />
          </span>
        )}
      </td>
      <td>
        <span class="wide">{a.asked}</span>
        <span class="narrow">{w.askedTimes(a.asked)}</span>
      </td>
      <td class="nowrap">
        <svg class="meter" viewBox="0 0 96 6" aria-hidden="true">
          <rect width="96" height="6" rx="1" />
          <rect width={(96 * yes) / 100} height="6" rx="1" />
        </svg>
        {w.percent(yes)}
      </td>
      <td>{a.half_millis > 0 ? took(a.half_millis) : ""}</td>
      <td>
        <button type="button" class="btn is-small" data-act="make-rule" onClick={make}>
          {effect === "deny" ? w.deny : w.make}
        </button>
      </td>
    </tr>
  );
}
