import type { Block, Call } from "../api.gen";
import { Foreign, hiddenIn, plural } from "../ui/text";
import { Diff } from "./diff";

/** The call in full, and what a decision about it is bound to. */
export function Blocks({ call }: { call: Call }) {
  const blocks = call.card.blocks.filter((b) => b.kind !== "questions");
  return (
    <>
      {blocks.map((b, i) => (
        <One key={i} block={b} prose={call.kind === "plan"} />
      ))}
      <Exact call={call} />
    </>
  );
}

function One({ block, prose }: { block: Block; prose: boolean }) {
  switch (block.kind) {
    case "diff":
      return <Diff block={block} />;
    case "content":
      return <Content block={block} prose={prose} />;
    default:
      return (
        <section>
          <div class="sect-head">
            <h3>
              <Foreign text={block.title || (block.kind === "command" ? "What would run" : "What it is called with")} />
            </h3>
          </div>
          <pre class="exact">
            <Text block={block} />
          </pre>
        </section>
      );
  }
}

function Content({ block, prose }: { block: Block; prose: boolean }) {
  const lines = textOf(block).replace(/\n+$/, "").split("\n").length;
  return (
    <section class={prose ? "content is-prose" : "content"}>
      <div class="diff-head">
        <code>
          <Foreign text={block.title || (prose ? "The agent’s plan, as written" : "Content")} />
        </code>
        <span class="grow" />
        <span class="muted nowrap">
          {plural(block.bytes ?? 0, "byte")}, {plural(lines, "line")}
        </span>
      </div>
      <pre>
        <Text block={block} />
      </pre>
    </section>
  );
}

function Text({ block }: { block: Block }) {
  return (
    <>
      {block.segments?.map((s, i) =>
        s.asked ? (
          <mark key={i} class="asked">
            <Foreign text={s.text} />
          </mark>
        ) : (
          <Foreign key={i} text={s.text} />
        ),
      )}
    </>
  );
}

function textOf({ segments, lines, questions }: Block): string {
  const asked = questions?.flatMap((q) => [q.header, q.question, ...q.options.flatMap((o) => [o.label, o.description])]);
  return [segments?.map((s) => s.text).join(""), ...(lines?.map((l) => l.text) ?? []), ...(asked ?? [])].join("\n");
}

function Exact({ call }: { call: Call }) {
  const bytes = call.card.blocks.reduce((sum, b) => sum + (b.bytes ?? 0), 0);
  const hidden = call.card.blocks.reduce((sum, b) => sum + hiddenIn(textOf(b)), 0);
  return (
    <p class="bound">
      <b>Exact text</b>: {bytes > 0 && <>{plural(bytes, "byte")}, </>}
      {hidden > 0 ? <b class="is-hidden">{plural(hidden, "hidden or misleading character")}</b> : "no hidden characters"}.
      {call.dir && (
        <>
          {" "}
          Directory{" "}
          <code>
            <Foreign text={call.dir} />
          </code>
          .
        </>
      )}{" "}
      A decision is bound to exactly this, digest <code title={call.digest}>{short(call.digest)}</code>.
    </p>
  );
}

/** Enough of a digest to compare by eye: "7f3a 91c2 … c19e". */
export function short(digest: string): string {
  return digest.length <= 16 ? digest : `${digest.slice(0, 4)} ${digest.slice(4, 8)} … ${digest.slice(-4)}`;
}
