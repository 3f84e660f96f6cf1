interface Props<V extends string> {
  name: string;
  label: string;
  value: V;
  options: Readonly<Record<V, string>>;
  choose: (value: V) => void;
}

/** A choice between few views of the same thing. */
export function Seg<V extends string>({ name, label, value, options, choose }: Props<V>) {
  return (
    <fieldset class="seg">
      <legend class="hide">{label}</legend>
      {(Object.keys(options) as V[]).map((v) => (
        <label key={v}>
          <input type="radio" name={name} value={v} checked={v === value} onChange={() => choose(v)} />
          {options[v]}
        </label>
      ))}
    </fieldset>
  );
}
