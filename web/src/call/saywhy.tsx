import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Call } from "../api.gen";
import { Act } from "./act";
import { onSend } from "./beside";
import { t } from "../words/words";
import { decide, type Verb } from "./decision";

interface Props {
  call: Call;
  armed: boolean;
  off: boolean;
  back: () => void;
  status: ComponentChildren;
}

/** The second step of a denial: words for the agent, and whether it goes on. The call stays in sight above it. */
export function SayWhy({ call, armed, off, back, status }: Props) {
  const [note, write] = useState("");
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => field.current?.focus(), []);
  const text = t().call.say;
  const words = note.trim();
  const deny = (how: Omit<Verb, "state" | "note">) => void decide(call, { state: "denied", ...(words && { note: words }), ...how });
  return (
    <footer class="decide is-saying" role="group" aria-label={text.label}>
      <label class="lab">
        {text.know}
        <textarea
          ref={field}
          class="edit"
          data-field="note"
          rows={3}
          placeholder={text.instead}
          value={note}
          onInput={(e) => write(e.currentTarget.value)}
          onKeyDown={onSend(() => armed && !off && deny({}))}
        />
      </label>
      <div class="line">
        {text.suggestions.map((s) => (
          <button key={s} type="button" class="btn is-small" onClick={() => write(note.trim() ? `${note.trim()} ${s}` : s)}>
            {s}
          </button>
        ))}
      </div>
      <div class="line">
        <button type="button" class="btn" data-act="back" onClick={back}>
          {t().call.decide.back} <kbd>Esc</kbd>
        </button>
        <p class="decide-status" role="status">
          {status}
        </p>
        <Act act="deny-stop" class="" armed={armed} off={off} title={text.stopTitle} press={() => deny({ interrupt: true })}>
          {text.stop} <span class="wide">{text.theAgent}</span>
        </Act>
        <Act act="reply" class="" armed={armed} off={off || words === ""} title={text.replyTitle} press={() => deny({ reply: true })}>
          {text.reply}
        </Act>
        <Act act="deny-send" class="is-main" armed={armed} off={off} keys="Control+Enter" press={() => deny({})}>
          {text.deny} <kbd>⌃⏎</kbd>
        </Act>
      </div>
    </footer>
  );
}
