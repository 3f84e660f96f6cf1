// Editing the input of a call that waits. What was saved is a new call to look
// at: it has its own digest and needs its own decision.

import type { Call } from "../api.gen";
import { hiddenIn } from "../ui/text";

export interface Text {
  /** Whether only the command is edited, or all of the input as JSON. */
  what: "command" | "json";
  text: string;
  /** What it was at first. */
  from: string;
}

/** What a field might hide or turn around. */
const unseen = /[\p{C}\p{Zl}\p{Zp}\u00a0\u2000-\u200a\u202f\u205f\u3000\u2800\u115f\u1160\u3164\uffa0]/gu;

/** The input as text to edit. A command with hidden characters is edited as JSON, where they stand as escapes. */
export function textOf({ tool, input, card }: Call): Text {
  const command = commandOf(input);
  const hidden = card.blocks.some((b) => b.segments?.some((s) => hiddenIn(s.text) > 0));
  if (tool === "Bash" && command !== null && !hidden) return { what: "command", text: command, from: command };
  const text = JSON.stringify(input, null, 2).replace(unseen, (c) => (c === "\n" ? c : escapes(c)));
  return { what: "json", text, from: text };
}

function escapes(c: string): string {
  return c
    .split("")
    .map((unit) => "\\u" + unit.charCodeAt(0).toString(16).padStart(4, "0"))
    .join("");
}

function commandOf(input: unknown): string | null {
  if (typeof input !== "object" || input === null || !("command" in input)) return null;
  return typeof input.command === "string" ? input.command : null;
}

/** The input that the text stands for, or what is wrong with it. */
export function inputOf({ input }: Call, { what, text }: Text): { input: unknown } | { wrong: string } {
  if (what === "command") {
    return text.trim() === "" ? { wrong: "A command has at least a word." } : { input: { ...(input as object), command: text } };
  }
  try {
    return { input: JSON.parse(text) as unknown };
  } catch (err) {
    return { wrong: `Not JSON yet: ${(err as Error).message}` };
  }
}

interface Props {
  call: Call;
  text: Text;
  change: (text: Text) => void;
}

export function InputForm({ call, text, change }: Props) {
  const read = inputOf(call, text);
  const wrong = "wrong" in read ? read.wrong : "";
  const json = text.what === "json";
  return (
    <section>
      <div class="sect-head">
        <h3 class="grow">
          <label for="input">{json ? "The input, as JSON" : "The command"}</label>
        </h3>
        {text.text !== text.from && (
          <button type="button" class="btn is-link" onClick={() => change({ ...text, text: text.from })}>
            Start again
          </button>
        )}
      </div>
      <textarea
        id="input"
        class={wrong ? "edit is-code is-wrong" : "edit is-code"}
        data-field="input"
        rows={json ? 14 : 6}
        spellcheck={false}
        autocomplete="off"
        aria-invalid={wrong ? "true" : undefined}
        aria-describedby="input-says"
        value={text.text}
        onInput={(e) => change({ ...text, text: e.currentTarget.value })}
      />
      <p id="input-says" class={wrong ? "hint is-wrong" : "hint"} role="status">
        {wrong || (json ? "Everything that the tool gets. Characters that do not show stand as \\u escapes." : "The tool’s other settings stay as they are.")}
      </p>
    </section>
  );
}
