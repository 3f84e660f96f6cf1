import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Call } from "../api.gen";
import { Act } from "./act";
import { decide } from "./decision";

const suggestions = ["Not now.", "Find another way.", "Stay inside the project."];

interface Props {
  call: Call;
  armed: boolean;
  off: boolean;
  back: () => void;
  status: ComponentChildren;
}

/** The second step of a denial. The call stays in sight above it. */
export function SayWhy({ call, armed, off, back, status }: Props) {
  const [note, write] = useState("");
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => field.current?.focus(), []);
  const ready = armed && !off;
  const words = note.trim();
  const deny = () => void decide(call, words ? { state: "denied", note: words } : { state: "denied" });
  return (
    <footer class="decide is-saying" role="group" aria-label="Deny and say why">
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
          onKeyDown={(e) => e.key === "Enter" && (e.metaKey || e.ctrlKey) && ready && deny()}
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
        <button type="button" class="btn" data-act="deny-back" onClick={back}>
          Back <kbd>Esc</kbd>
        </button>
        <p class="decide-status" role="status">
          {status}
        </p>
        <Act act="deny-send" class="is-main" armed={armed} off={off} keys="Control+Enter" press={deny}>
          Deny <kbd>⌃⏎</kbd>
        </Act>
      </div>
    </footer>
  );
}
