import { useEffect } from "preact/hooks";
import { agentName, projectName } from "../session";
import { Icon } from "../ui/icon";
import { t } from "../words/words";
import { facets, readFacets, want, wanted, type Wanted } from "./store";

export function Filters() {
  useEffect(() => void readFacets(), []);
  const { history: w } = t();
  const f = facets.value;
  return (
    <div class="filters">
      <label class="field">
        <Icon name="find" />
        <span class="hide">{w.search}</span>
        <input type="search" data-field="filter" placeholder={w.searchHint} value={wanted.value.q} onInput={(e) => want({ q: e.currentTarget.value })} />
      </label>
      <Pick name="agent" label={w.agent} all={w.agents} options={(f?.agents ?? []).map((a) => [a.id ?? "", `${a.name || w.agent} ${a.id}`])} />
      <Pick name="session" label={w.session} all={w.sessions} options={(f?.sessions ?? []).map((s) => [s.id, `${projectName(s)}, ${agentName(s)}, ${s.id.slice(0, 8)}`])} />
      <Pick name="tool" label={w.tool} all={w.tools} options={(f?.tools ?? []).map((name) => [name, name])} />
      <Pick name="outcome" label={w.outcome} all={w.outcomes} options={[...Object.entries(w.states), ...Object.entries(w.outcomeKinds)]} />
      <Pick name="by" label={w.by} all={w.deciders} options={[["person", w.byPerson], ["rules", w.byRules]]} />
    </div>
  );
}

interface PickProps {
  name: Exclude<keyof Wanted, "q">;
  label: string;
  all: string;
  options: readonly (readonly [string, string])[];
}

function Pick({ name, label, all, options }: PickProps) {
  const value = wanted.value[name];
  const known = value === "" || options.some(([v]) => v === value);
  return (
    <select data-field={name} aria-label={label} value={value} onChange={(e) => want({ [name]: e.currentTarget.value })}>
      <option value="">{all}</option>
      {!known && <option value={value}>{value}</option>}
      {options.map(([v, says]) => (
        <option key={v} value={v}>
          {says}
        </option>
      ))}
    </select>
  );
}
