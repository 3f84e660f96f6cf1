import type { Block, Call, Field } from "../api.gen";
import { Foreign, hiddenIn } from "../ui/text";
import { Fill } from "../words/fill";
import { t } from "../words/words";
import { Command } from "./command";
import { Diff } from "./diff";
import { PlanText } from "./plan";
import { Text } from "./text";

/** The call in full, and what a decision about it is bound to. */
export function Blocks({ call }: { call: Call }) {
  return (
    <>
      <Bare call={call} />
      <Exact call={call} />
    </>
  );
}

/** The call in full. */
export function Bare({ call }: { call: Call }) {
  return <>{call.card.blocks.map((b, i) => b.kind !== "questions" && <One key={i} call={call} block={b} piece={String(i)} />)}</>;
}

function One({ call, block, piece }: { call: Call; block: Block; piece: string }) {
  switch (block.kind) {
    case "diff":
      return <Diff block={block} piece={piece} />;
    case "content":
      return call.kind === "plan" ? <PlanText block={block} piece={piece} /> : <Content block={block} piece={piece} />;
    case "command":
      return <Command call={call} block={block} piece={piece} />;
    case "form":
      return <Form block={block} piece={piece} />;
    default:
      return (
        <section>
          <div class="sect-head">
            <h3>
              <Foreign text={block.title || t().call.command.calledWith} />
            </h3>
          </div>
          <pre class="exact">
            <Text segments={block.segments ?? []} piece={piece} />
          </pre>
        </section>
      );
  }
}

function Content({ block, piece }: { block: Block; piece: string }) {
  const lines = textOf(block).replace(/\n+$/, "").split("\n").length;
  const { notes } = t().call.diff;
  return (
    <section class="content">
      <div class="diff-head">
        <code>
          <Foreign text={block.title || t().call.content} />
        </code>
        <span class="diff-note grow muted">{block.note && notes[block.note]}</span>
        <span class="muted nowrap">
          {t().ui.bytes(block.bytes ?? 0)}, {t().ui.lines(lines)}
        </span>
      </div>
      <pre>
        <Text segments={block.segments ?? []} piece={piece} />
      </pre>
    </section>
  );
}

/** Names and values are the agent's; each stands in its own place. */
function Form({ block, piece }: { block: Block; piece: string }) {
  return (
    <section>
      <div class="sect-head">
        <h3>{t().call.command.calledWith}</h3>
      </div>
      <dl class="form">
        {block.fields?.map((f, k) => (
          <FormField key={k} field={f} piece={`${piece}.${k}`} />
        ))}
      </dl>
    </section>
  );
}

function FormField({ field: { name, kind, text }, piece }: { field: Field; piece: string }) {
  return (
    <>
      <dt>
        <Foreign text={name} />
      </dt>
      <dd class={kind === "text" ? "is-text" : "mono"}>
        <Text segments={[{ text }]} piece={piece} />
      </dd>
    </>
  );
}

function textOf({ segments, lines, questions, fields }: Block): string {
  const asked = questions?.flatMap((q) => [q.header, q.question, ...q.options.flatMap((o) => [o.label, o.description])]);
  const filled = fields?.flatMap((f) => [f.name, f.text]);
  return [segments?.map((s) => s.text).join(""), ...(lines?.map((l) => l.text) ?? []), ...(asked ?? []), ...(filled ?? [])].join("\n");
}

function Exact({ call }: { call: Call }) {
  const words = t().call.bound;
  const bytes = call.card.blocks.reduce((sum, b) => sum + (b.bytes ?? 0), 0);
  const hidden = call.card.blocks.reduce((sum, b) => sum + hiddenIn(textOf(b)), 0);
  return (
    <p class="bound">
      <b>{words.exact}</b>: {bytes > 0 && <>{t().ui.bytes(bytes)}, </>}
      {hidden > 0 ? <b class="is-hidden">{words.hidden(hidden)}</b> : words.noneHidden}.{" "}
      {call.dir && (
        <>
          <Fill
            text={words.dir}
            gaps={{
              dir: (
                <code>
                  <Foreign text={call.dir} />
                </code>
              ),
            }}
          />{" "}
        </>
      )}
      <Fill text={words.digest} gaps={{ digest: <code title={call.digest}>{short(call.digest)}</code> }} />
    </p>
  );
}

/** Enough of a digest to compare by eye: "7f3a 91c2 … c19e". */
export function short(digest: string): string {
  return digest.length <= 16 ? digest : `${digest.slice(0, 4)} ${digest.slice(4, 8)} … ${digest.slice(-4)}`;
}
