import { useState } from "preact/hooks";
import type { Block, Call, Segment, Touch } from "../api.gen";
import { Seg } from "../ui/seg";
import { Foreign } from "../ui/text";
import { t } from "../words/words";
import { thing } from "./strip";
import { Text } from "./text";
import { isLong } from "./long";

/** A command by its parts, each with what it does; or its exact text. */
export function Command({ call, block, piece }: { call: Call; block: Block; piece: string }) {
  const [view, look] = useState<"parts" | "exact">("parts");
  const segments = block.segments ?? [];
  const parts = partsOf(segments);
  const words = t().call.command;
  const byParts = parts.length > 0 && !isLong(segments);
  return (
    <section>
      <div class="sect-head">
        <h3 class="grow">{words.runs}</h3>
        {byParts && <Seg name="command" label={words.show} value={view} choose={look} options={{ parts: words.parts, exact: words.exact }} />}
      </div>
      {byParts && view === "parts" ? (
        <ol class="parts">
          {parts.map((part, i) => (
            <Part key={i} no={i + 1} part={part} touches={(call.card.touches ?? []).filter((x) => x.part === i + 1)} project={call.session.project} />
          ))}
        </ol>
      ) : (
        <pre class="exact">
          <Text segments={segments} piece={piece} />
        </pre>
      )}
    </section>
  );
}

/** The segments by part. All of them are in it, so nothing of the command is missing. */
export function partsOf(segments: readonly Segment[]): Segment[][] {
  const out: Segment[][] = [];
  for (const s of segments) {
    if (!s.part) return [];
    (out[s.part - 1] ??= []).push(s);
  }
  return out.filter(Boolean);
}

interface PartProps {
  no: number;
  part: readonly Segment[];
  touches: readonly Touch[];
  project: string | undefined;
}

function Part({ no, part, touches, project }: PartProps) {
  const asked = part.some((s) => s.asked);
  return (
    <li class={asked ? "part is-asked" : "part"}>
      <span class="part-no">{no}</span>
      <code class="part-code">
        {part.map((s, i) => (
          <Word key={i} segment={trim(s, i === 0 && no > 1)} />
        ))}
      </code>
      <ul class="part-does">
        {touches.map((x, i) => (
          <li key={i}>
            <Does touch={x} project={project} />
          </li>
        ))}
      </ul>
    </li>
  );
}

/** A part has a line of its own, so the blank or line break before it is left out. */
function trim(s: Segment, first: boolean): Segment {
  return first ? { ...s, text: s.text.replace(/^[ \n]+/, "") } : s;
}

function Word({ segment: { text, role, asked } }: { segment: Segment }) {
  const body = (
    <span class={`w-${role ?? "word"}`}>
      <Foreign text={text} />
    </span>
  );
  return asked ? <mark class="asked">{body}</mark> : body;
}

function Does({ touch, project }: { touch: Touch; project: string | undefined }) {
  const words = t().call.effects;
  const { does, what, outside, secret } = touch;
  const file = does === "read" || does === "write" || does === "delete";
  const name = what || file ? thing(touch, project) : "";
  if (does === "net" && !what) return <>{words.does["net"]} {words.others}</>;
  const grave = [outside && file && what && words.isOutside, secret && does !== "secret" && words.isSecret].filter(Boolean).join(", ");
  return (
    <>
      {words.does[does] ?? does}
      {name && (
        <>
          {" "}
          <code>
            <Foreign text={name} />
          </code>
        </>
      )}
      {grave && (
        <>
          , <b>{grave}</b>
        </>
      )}
    </>
  );
}
