import { useEffect, useRef, useState } from "preact/hooks";
import type { Backtest, Replayed, TriedRule } from "../api.gen";
import { link } from "../state";
import { basename, Foreign } from "../ui/text";
import { t } from "../words/words";
import { apply, beginRule, done, draft, endRule, refused, tried } from "./store";

/** One rule on its way into force: what it changes, what it would have done, and only then a button. */
export function Trial() {
  const box = useRef<HTMLElement>(null);
  const of = draft.value;
  useEffect(() => {
    if (of) box.current?.querySelector<HTMLElement>("h2")?.focus();
  }, [of?.call, of?.effect]);
  if (!of) {
    return (
      <p class="label applied" role="status">
        <Foreign text={done.value} />
      </p>
    );
  }
  const { rules: w } = t();
  const got = tried.value;
  return (
    <section class="trial" ref={box} aria-label={w.trial}>
      <h2 tabIndex={-1}>{of.effect === "deny" ? w.trialDeny : w.trial}</h2>
      {got && <Shown got={got} call={of.call} />}
      <p class="hint is-wrong" role="status">
        <Foreign text={refused.value} />
      </p>
      {got ? <Confirm got={got} key={got.digest} /> : <Cancel />}
    </section>
  );
}

function Shown({ got, call }: { got: TriedRule; call: string }) {
  const { rules: w } = t();
  return (
    <>
      {got.offers.length > 1 ? (
        <label>
          <span class="label">{w.match}</span>
          <select data-field="match" value={got.match} onChange={(e) => beginRule({ effect: got.effect, call, match: e.currentTarget.value })}>
            {!got.offers.some((o) => o.match === got.match) && <option value={got.match}>{got.match}</option>}
            {got.offers.map((o) => (
              <option key={o.match} value={o.match}>
                {o.match}
              </option>
            ))}
          </select>
        </label>
      ) : (
        <code class="match">
          <Foreign text={got.match} />
        </code>
      )}
      {got.project && <p class="label">{w.onlyIn(basename(got.project))}</p>}
      <p class="label">{w.change}</p>
      <pre class="change" tabIndex={0} aria-label={w.change}>
        {got.diff.map((l, i) => (
          <span key={i} class={l.op === "+" ? "is-add" : l.op === "-" ? "is-del" : undefined}>
            {l.op} <Foreign text={l.text} />
            {"\n"}
          </span>
        ))}
      </pre>
      <div role="status" data-tried={got.work.ready ? String(got.safe) : undefined}>
        {got.backtest ? <Result of={got.backtest} safe={got.safe} /> : <p class="label">{w.trying(got.work.done)}</p>}
      </div>
    </>
  );
}

function Result({ of, safe }: { of: Backtest; safe: boolean }) {
  const { rules: w } = t();
  return (
    <div class="tried">
      <p>{w.tried(of.calls)}</p>
      <ul>
        <li>{w.vanish(of.asks_that_vanish, of.asks_before)}</li>
        {of.new_asks > 0 && <li>{w.fresh(of.new_asks)}</li>}
        <Calls says={w.opened} list={of.refused_but_allowed} />
        <Calls says={w.closed} list={of.allowed_but_denied} />
        <Calls says={w.loosened} list={of.denied_but_allowed} />
        <li class={safe ? undefined : "is-bad"}>{safe ? w.safe : w.unsafe}</li>
      </ul>
    </div>
  );
}

function Calls({ says, list }: { says: (n: number) => string; list: readonly Replayed[] }) {
  if (list.length === 0) return null;
  return (
    <li class="is-bad">
      {says(list.length)}
      {list.slice(0, 5).map((c) => (
        <a key={c.call} class="cut mono" href={`/history#${c.call}`}>
          <Foreign text={c.says} />
        </a>
      ))}
    </li>
  );
}

function Confirm({ got }: { got: TriedRule }) {
  const { rules: w } = t();
  const [seen, see] = useState(false);
  const [busy, set] = useState(false);
  const ready = got.work.ready && got.safe && seen && !busy && link.value === "live";
  const put = async () => {
    if (!ready) return;
    set(true);
    await apply();
    set(false);
  };
  return (
    <>
      {got.work.ready && got.safe && (
        <label class="line seen">
          <input type="checkbox" data-field="seen" checked={seen} onChange={(e) => see(e.currentTarget.checked)} />
          {w.seen}
        </label>
      )}
      <div class="line">
        <Cancel />
        <span class="grow" />
        <button type="button" class="btn is-small is-main" data-act="add-rule" aria-disabled={ready ? undefined : "true"} onClick={() => void put()}>
          {busy ? w.putting : w.put(got.effect)}
        </button>
      </div>
    </>
  );
}

function Cancel() {
  return (
    <button type="button" class="btn is-small is-quiet" data-act="back-rule" onClick={endRule}>
      {t().rules.back}
    </button>
  );
}
