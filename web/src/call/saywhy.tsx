import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Call } from "../api.gen";
import { Act } from "./act";
import { onSend } from "./beside";
import { decide, type Verb } from "./decision";

const suggestions = ["Not now.", "Find another way.", "Stay inside the project."];

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
  const words = note.trim();
  const deny = (how: Omit<Verb, "state" | "note">) => void decide(call, { state: "denied", ...(words && { note: words }), ...how });
  return (
    <footer class="decide is-saying" role="group" aria-label="Deny or reply">
      <label class="lab">
        What should the agent know?
        <textarea
          ref={field}
          class="edit"
          data-field="note"
          rows={3}
          placeholder="It gets these words instead of a result"
          value={note}
          onInput={(e) => write(e.currentTarget.value)}
          onKeyDown={onSend(() => armed && !off && deny({}))}
        />
      </label>
      <div class="line">
        {suggestions.map((s) => (
          <button key={s} type="button" class="btn is-small" onClick={() => write(note.trim() ? `${note.trim()} ${s}` : s)}>
            {s}
          </button>
        ))}
      </div>
      <div class="line">
        <button type="button" class="btn" data-act="back" onClick={back}>
          Back <kbd>Esc</kbd>
        </button>
        <p class="decide-status" role="status">
          {status}
        </p>
        <Act act="deny-stop" class="" armed={armed} off={off} title="Its turn ends; it waits for you" press={() => deny({ interrupt: true })}>
          Deny and stop <span class="wide">the agent</span>
        </Act>
        <Act act="reply" class="" armed={armed} off={off || words === ""} title="The agent goes on with your words as the answer" press={() => deny({ reply: true })}>
          Reply
        </Act>
        <Act act="deny-send" class="is-main" armed={armed} off={off} keys="Control+Enter" press={() => deny({})}>
          Deny <kbd>⌃⏎</kbd>
        </Act>
      </div>
    </footer>
  );
}
