// From a card to the mode of its session: the same menu as remembering, with
// the same second click. The call itself is not decided, but judged again.

import type { Call } from "../api.gen";
import { sending } from "../call/decision";
import type { Draft } from "../call/remember";
import { badNews, tell } from "../state";
import { t } from "../words/words";
import { modeOf, setMode } from "./store";
import { Times } from "./times";
import { bypass } from "./words";

interface Props {
  call: Call;
  draft: Draft;
  change: (draft: Draft) => void;
}

const offers = ["acceptEdits", bypass] as const;

export function SessionModes({ call, draft, change }: Props) {
  const now = modeOf(call);
  if (call.session.mode === "plan") return null; // no choice loosens that
  // What is chosen here stays in sight, whatever somebody else chooses meanwhile.
  if (now === bypass && draft.mode === "") return null;
  const edits = draft.mode === "acceptEdits" || (call.card.icon === "file" && now === "default");
  return (
    <fieldset>
      <legend class="sect-head">
        <h3>{t().modes.less}</h3>
      </legend>
      <div class={edits ? "choices is-row is-two" : "choices"}>
        {(edits ? offers : offers.slice(1)).map((mode) => (
          <label key={mode} class="choice">
            <input type="radio" name="scope" value={mode} checked={draft.mode === mode} onChange={() => change({ ...draft, mode })} />
            <b>{t().modes.offers[mode].name}</b>
            <small>{t().modes.offers[mode].says}</small>
          </label>
        ))}
      </div>
      {draft.mode !== "" && <p class="hint">{t().modes.stays}</p>}
      {draft.mode === bypass && <Times name="bypass" seconds={draft.bypass} choose={(s) => change({ ...draft, bypass: s })} />}
    </fieldset>
  );
}

/** Chooses the mode that the draft names. The calls that wait are then judged by it. */
export async function allowMore(call: Call, draft: Draft): Promise<boolean> {
  if (sending.value !== null) return false;
  sending.value = call.id;
  tell(null);
  const why = await setMode(call, draft.mode, draft.mode === bypass ? draft.bypass : 0);
  sending.value = null;
  if (why) tell(badNews(why));
  else tell({ text: t().modes.changed, icon: "yes" });
  return why === "";
}
