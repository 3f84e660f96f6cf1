import { useEffect } from "preact/hooks";
import type { Rule } from "../api.gen";
import { GrantRow } from "../grants/grants";
import { forgetRevoked, grants, readGrants, refused as notRevoked } from "../grants/store";
import { Icon } from "../ui/icon";
import { Seg } from "../ui/seg";
import { basename, Foreign } from "../ui/text";
import { clock, Since } from "../ui/time";
import { Fill } from "../words/fill";
import { t } from "../words/words";
import { ExplainBox } from "./explain";
import { kind, readRules, ruleKey, rules, search, shownGrants, shownRules } from "./store";
import { Suggested } from "./suggest";
import { Trial } from "./trial";

export function Rules() {
  useEffect(() => {
    void readRules();
    void readGrants();
    return forgetRevoked;
  }, []);
  const { rules: w } = t();
  const all = rules.value;
  return (
    <main class="page">
      <div class="page-in">
        <header class="page-head">
          <h1>{w.title}</h1>
          {all && <span class="muted is-wide">{w.says(all.rules.length, (grants.value ?? []).filter((g) => !g.revoked).length)}</span>}
          <span class="grow" />
          <span class="hint is-wrong" role="status">
            {notRevoked.value}
            {all?.problem && <Foreign text={w.problem(all.problem)} />}
          </span>
        </header>
        <div class="page-cols">
          <div>
            <Search />
            <Table />
          </div>
          <aside>
            <Trial />
            <ExplainBox />
            <Suggested />
          </aside>
        </div>
      </div>
    </main>
  );
}

function Search() {
  const { rules: w } = t();
  const { deny, ask, allow } = w.effects;
  const kinds: Record<string, string> = { all: w.all, deny: capital(deny), ask: capital(ask), allow: capital(allow), unused: w.unused };
  return (
    <div class="filters">
      <label class="field">
        <Icon name="find" />
        <span class="hide">{w.search}</span>
        <input type="search" data-field="filter" placeholder={w.searchHint} value={search.value} onInput={(e) => (search.value = e.currentTarget.value)} />
      </label>
      <Seg name="rule-kind" label={w.show} value={kind.value} options={kinds} choose={(to) => (kind.value = to)} />
    </div>
  );
}

const capital = (word: string) => word.charAt(0).toUpperCase() + word.slice(1);

const layers = ["machine", "user", "default", "project"];

function Table() {
  const { rules: w } = t();
  if (!rules.value || !grants.value) return <p class="muted none" />;
  const list = shownRules.value;
  return (
    <table class="table is-fixed rules grants">
      <thead>
        <tr>
          <th class="c-eff">{w.verdict}</th>
          <th>{w.rule}</th>
          <th class="c-from">{w.from}</th>
          <th class="c-uses">{w.used}</th>
          <th class="c-last">{w.lastUsed}</th>
          <th class="c-act">
            <span class="hide">{w.action}</span>
          </th>
        </tr>
      </thead>
      <tbody>
        <GroupHead name={w.grants} says={w.grantsSays} />
        {shownGrants.value.map((g) => (
          <GrantRow key={g.id} grant={g} />
        ))}
        {grants.value.length === 0 && (
          <tr class="is-note">
            <td colSpan={6} class="muted">
              {w.noGrants}
            </td>
          </tr>
        )}
        {layers.map((layer) => {
          const of = list.filter((r) => r.layer === layer);
          const [name, says] = w.layers[layer] ?? [layer, ""];
          return of.length > 0 && [<GroupHead key={layer} name={name} says={says} />, ...of.map((r) => <RuleRow key={ruleKey(r)} rule={r} />)];
        })}
        {list.length === 0 && (
          <tr class="is-note">
            <td colSpan={6} class="muted">
              {rules.value.rules.length === 0 ? w.none : w.noMatch}
            </td>
          </tr>
        )}
      </tbody>
    </table>
  );
}

function GroupHead({ name, says }: { name: string; says: string }) {
  return (
    <tr class="group">
      <th colSpan={6} scope="colgroup">
        {name} <span class="muted">{says}</span>
      </th>
    </tr>
  );
}

export function Effect({ effect }: { effect: string }) {
  const names: Record<string, string> = t().rules.effects;
  return <span class={`verdict is-${effect}`}>{names[effect] ?? effect}</span>;
}

function RuleRow({ rule }: { rule: Rule }) {
  const { rules: w } = t();
  return (
    <tr data-rule={rule.text}>
      <td>
        <Effect effect={rule.effect} />
      </td>
      <td>
        <code class="match">
          <Foreign text={rule.text} />
        </code>
        {rule.why && (
          <span class="sub">
            <Foreign text={rule.why} />
          </span>
        )}
        {rule.where?.map((c) => (
          <code key={c} class="sub">
            <Foreign text={c} />
          </code>
        ))}
      </td>
      <td class="muted cut" title={rule.source}>
        <Foreign text={rule.source && basename(rule.source)} />
        {rule.project && (
          <span class="sub cut" title={rule.project}>
            <Foreign text={w.inProject(basename(rule.project))} />
          </span>
        )}
        {rule.until && <span class="sub">{<Fill text={w.until} gaps={{ end: clock(rule.until) }} />}</span>}
      </td>
      <td class="num">{rule.used}</td>
      <td class="muted nowrap">{rule.last_used ? <Fill text={w.ago} gaps={{ time: <Since at={rule.last_used} /> }} /> : w.never}</td>
      <td />
    </tr>
  );
}
