import { useState } from "preact/hooks";
import type { Block } from "../api.gen";
import { Seg } from "../ui/seg";
import { t } from "../words/words";
import { isLongBlock } from "./long";
import { Markdown } from "./markdown";
import { Text } from "./text";

export const choices = ["startEditing", "clearContextAndStart"] as const;

/** How an approved plan is carried out. */
export function PlanChoice({ choice, choose, off }: { choice: string; choose: (choice: string) => void; off: boolean }) {
  const words = t().call.plan;
  return (
    <fieldset class="plan-choice" disabled={off}>
      <legend class="sect-head">
        <h3>{off ? words.carriedOut : words.if}</h3>
      </legend>
      <div class="choices is-row is-two">
        {choices.map((value) => (
          <label key={value} class="choice">
            <input type="radio" name="choice" value={value} checked={choice === value} onChange={() => choose(value)} />
            <b>{words.choices[value].name}</b>
            <small>{words.choices[value].says}</small>
          </label>
        ))}
      </div>
    </fieldset>
  );
}

/** The agent's prose: dashed, and set as Markdown or as it was written. */
export function PlanText({ block, piece }: { block: Block; piece: string }) {
  const [view, look] = useState<"rendered" | "written">("rendered");
  const words = t().call;
  const segments = block.segments ?? [];
  const long = isLongBlock(block);
  return (
    <section class="content is-prose">
      <div class="diff-head">
        <b class="grow">{words.planAsWritten}</b>
        <span class="muted nowrap">{t().ui.bytes(block.bytes ?? 0)}</span>
        {!long && <Seg name="plan" label={words.planAsWritten} value={view} choose={look} options={{ rendered: words.rendered, written: words.asWritten }} />}
      </div>
      {view === "rendered" && !long ? (
        <Markdown text={segments.map((s) => s.text).join("")} />
      ) : (
        <pre>
          <Text segments={segments} piece={piece} />
        </pre>
      )}
    </section>
  );
}
