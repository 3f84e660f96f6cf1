import { t } from "../words/words";
import { times, timeName } from "./words";

interface Props {
  name: string;
  seconds: number;
  choose: (seconds: number) => void;
  off?: boolean;
}

/** How long a bypass holds. It stands there also while it does not matter, so that nothing moves. */
export function Times({ name, seconds, choose, off = false }: Props) {
  return (
    <fieldset class="times" disabled={off}>
      <legend class="label">{t().modes.endsAfter}</legend>
      <div class="choices">
        {times.map((value) => (
          <label key={value} class="choice">
            <input type="radio" name={name} value={String(value)} checked={!off && seconds === value} onChange={() => choose(value)} />
            <b>{timeName(value)}</b>
          </label>
        ))}
      </div>
    </fieldset>
  );
}
