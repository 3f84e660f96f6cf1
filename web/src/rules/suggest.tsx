import { useEffect } from "preact/hooks";
import type { Suggestion } from "../api.gen";
import { Foreign } from "../ui/text";
import { Fill } from "../words/fill";
import { t } from "../words/words";
import { beginRule, lookForSuggestions, suggestions } from "./store";

/** Rules that would have saved questions, each tried before it is applied. */
export function Suggested() {
  useEffect(() => {
    let here = true;
    void lookForSuggestions(() => here);
    return () => void (here = false);
  }, []);
  const { rules: w } = t();
  const got = suggestions.value;
  return (
    <section aria-label={w.suggested}>
      <div class="line sect">
        <h2 class="grow">{w.suggested}</h2>
        <button type="button" class="btn is-small is-quiet" data-act="suggest" onClick={() => void lookForSuggestions(() => true, true)}>
          {w.again}
        </button>
      </div>
      <p class="label" role="status">
        {got && (got.work.ready ? (got.rules.length > 0 ? w.suggestedSays(got.calls) : w.noSuggestions) : w.looking(got.work.done))}
      </p>
      {got?.rules.map((s) => <One key={s.match} of={s} />)}
    </section>
  );
}

function One({ of }: { of: Suggestion }) {
  const { rules: w } = t();
  return (
    <div class="suggest" data-suggested={of.match}>
      <code class="match">
        <Foreign text={of.match} />
      </code>
      <p>
        {w.saves(of.saves)} <Fill text={w.also} gaps={{ what: <Foreign text={of.also} /> }} /> {of.undecided ? w.undecided(of.undecided) : ""}
      </p>
      <button type="button" class="btn is-small" data-act="try" onClick={() => beginRule({ effect: "allow", call: of.call, match: of.match })}>
        {w.apply}
      </button>
    </div>
  );
}
