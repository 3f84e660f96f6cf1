// Editing the input of a call that waits. What was saved is a new call to look
// at: it has its own digest and needs its own decision.

import type { Call } from "../api.gen";
import { hiddenIn } from "../ui/text";
import { t } from "../words/words";

export interface Text {
  /** Whether one field is edited as text, or all of the input as JSON. */
  what: "command" | "plan" | "json";
  text: string;
  /** What it was at first. */
  from: string;
}

/** What a field might hide or turn around. */
const unseen = /[\p{C}\p{Zl}\p{Zp}\u00a0\u2000-\u200a\u202f\u205f\u3000\u2800\u115f\u1160\u3164\uffa0]/gu;

/** The input as text to edit. A text with hidden characters is edited as JSON, where they stand as escapes. */
export function textOf({ tool, kind, input, card }: Call): Text {
  const what = kind === "plan" ? "plan" : "command";
  const field = fieldOf(input, what);
  const hidden = card.blocks.some((b) => b.segments?.some((s) => hiddenIn(s.text) > 0));
  if ((tool === "Bash" || kind === "plan") && field !== null && !hidden) return { what, text: field, from: field };
  const text = JSON.stringify(input, null, 2).replace(unseen, (c) => (c === "\n" ? c : escapes(c)));
  return { what: "json", text, from: text };
}

function escapes(c: string): string {
  return c
    .split("")
    .map((unit) => "\\u" + unit.charCodeAt(0).toString(16).padStart(4, "0"))
    .join("");
}

function fieldOf(input: unknown, name: string): string | null {
  if (!isObject(input)) return null;
  const value = input[name];
  return typeof value === "string" ? value : null;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The input that the text stands for, or what is wrong with it. */
export function inputOf({ input }: Call, { what, text }: Text): { input: unknown } | { wrong: string } {
  const words = t().call.input;
  if (what !== "json") {
    if (text.trim() === "") return { wrong: what === "plan" ? words.somePlan : words.oneWord };
    return { input: { ...(input as object), [what]: text } };
  }
  let read: unknown;
  try {
    read = JSON.parse(text);
  } catch (err) {
    return { wrong: words.notJSON((err as Error).message) };
  }
  const wrong = misshapen(input, read);
  return wrong ? { wrong } : { input: read };
}

/** Fields that no tool goes without, and the types that fields had. */
const needed = ["command", "file_path", "notebook_path", "old_string", "new_string", "content", "plan", "url"];

function misshapen(before: unknown, after: unknown): string {
  const words = t().call.input;
  if (!isObject(before)) return "";
  if (!isObject(after)) return words.notObject;
  for (const [name, value] of Object.entries(before)) {
    if (!(name in after)) {
      if (needed.includes(name)) return words.missing(name);
      continue;
    }
    const type = typeof value;
    if (value !== null && (typeof after[name] !== type || after[name] === null)) return words.type(name, words.types[type] ?? type);
  }
  return "";
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
  const words = t().call.input;
  return (
    <section>
      <div class="sect-head">
        <h3 class="grow">
          <label for="input">{words[text.what]}</label>
        </h3>
        {text.text !== text.from && (
          <button type="button" class="btn is-link" onClick={() => change({ ...text, text: text.from })}>
            {words.again}
          </button>
        )}
      </div>
      <textarea
        id="input"
        class={wrong ? "edit is-code is-wrong" : "edit is-code"}
        data-field="input"
        rows={text.what === "command" ? 6 : 16}
        spellcheck={false}
        autocomplete="off"
        aria-invalid={wrong ? "true" : undefined}
        aria-describedby="input-says"
        value={text.text}
        onInput={(e) => change({ ...text, text: e.currentTarget.value })}
      />
      <p id="input-says" class={wrong ? "hint is-wrong" : "hint"} role="status">
        {wrong || (json ? words.sayJSON : words.sayCommand)}
      </p>
    </section>
  );
}
