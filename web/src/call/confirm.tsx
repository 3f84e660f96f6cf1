import type { Call } from "../api.gen";
import { Fill } from "../words/fill";
import { t } from "../words/words";
import { graveOf } from "./effects";

interface Props {
  call: Call;
  typed: string;
  type: (text: string) => void;
}

/** For what is grave a click is not enough: a word of it has to be typed. */
export function ConfirmForm({ call, typed, type }: Props) {
  const grave = graveOf(call);
  if (!grave) return null;
  const words = t().call.confirm;
  return (
    <>
      <p class="also">{words.why[grave.why]}</p>
      <label class="lab">
        <span>
          <Fill text={words.type} gaps={{ word: <code>{grave.word}</code> }} />
        </span>
        <input
          type="text"
          class="text mono"
          data-field="confirm"
          autocomplete="off"
          autocapitalize="off"
          spellcheck={false}
          value={typed}
          onInput={(e) => type(e.currentTarget.value)}
        />
      </label>
    </>
  );
}

export function confirmed(call: Call, typed: string): boolean {
  const grave = graveOf(call);
  return grave !== null && typed.trim() === grave.word;
}
