import { useState } from "preact/hooks";
import type { Block, Line } from "../api.gen";
import { Seg } from "../ui/seg";
import { Foreign } from "../ui/text";
import { number } from "../words/language";
import { t } from "../words/words";
import { changedWords, type Words } from "./changed";
import { folds, head, isLongBlock, lineMost, linePiece, Long, tail } from "./long";
import { rowsOf, type Row } from "./rows";
import { Text } from "./text";

type View = "split" | "unified";
const kept = "gatelatch.diff";

export function Diff({ block, piece }: { block: Block; piece: string }) {
  const [chosen, setView] = useState<View>(localStorage.getItem(kept) === "unified" ? "unified" : "split");
  const view = matchMedia("(max-width: 860px)").matches ? "unified" : chosen; // no room for two columns
  const choose = (to: View) => {
    localStorage.setItem(kept, to);
    setView(to);
  };
  const words = t().call.diff;
  const lines = withoutEnd(block.lines ?? []);
  // Unchanged lines of a file are known; those of a text that is only replaced are all of it.
  const rows = rowsOf(lines, view === "split", folds(block));
  const one = { lines, changed: changedWords(lines), view, piece };
  const label = words.notes[block.note ?? ""] ?? "";
  return (
    <section class={`diff is-${view}`} aria-label={words.label}>
      <div class="diff-head">
        <code>
          <Foreign text={block.title || words.change} />
        </code>
        <span class="nowrap">
          <span class="plus">+{number(block.added ?? 0)}</span> <span class="minus">−{number(block.removed ?? 0)}</span>
        </span>
        <span class={wrong(block.note) ? "diff-note grow is-close" : "diff-note grow muted"}>
          {label}
          {block.places ? `, ${words.places(block.places)}` : ""}
        </span>
        <Seg name={`diff ${piece}`} label={words.view} value={view} choose={choose} options={{ split: words.split, unified: words.unified }} />
      </div>
      <Whole rows={rows} long={isLongBlock(block)} {...one} />
    </section>
  );
}

function wrong(note: string | undefined): boolean {
  return note === "gone" || note === "changed" || note === "many";
}

interface Shown {
  lines: readonly Line[];
  changed: ReadonlyMap<number, Words>;
  view: View;
  piece: string;
}

function Whole({ rows, long, ...shown }: Shown & { rows: readonly Row[]; long: boolean }) {
  if (!long) return <Tables rows={rows} {...shown} />;
  const first = rows.slice(0, head.lines);
  const end = Math.max(head.lines, rows.length - tail.lines);
  const between = rows.slice(head.lines, end);
  return (
    <Long
      piece={shown.piece}
      label={t().call.gap.lines(between.length)}
      head={<Tables rows={first} {...shown} />}
      between={() => tables(between, shown)}
      tail={<Tables rows={rows.slice(end)} {...shown} />}
    />
  );
}

/** A text that ends in a line break has an empty last line. Where both sides end so, it says nothing. */
function withoutEnd(lines: readonly Line[]): readonly Line[] {
  const last = lines.at(-1);
  return last?.op === " " && last.text === "" ? lines.slice(0, -1) : lines;
}

/** A long diff is several tables: the browser can leave out those that are not in view, but not rows. */
const atOnce = 400;

function Tables({ rows, ...shown }: Shown & { rows: readonly Row[] }) {
  return <>{tables(rows, shown)}</>;
}

function tables(rows: readonly Row[], shown: Shown) {
  const { caption, captionSplit } = t().call.diff;
  const split = shown.view === "split";
  return Array.from({ length: Math.ceil(rows.length / atOnce) }, (_, part) => (
    <div key={part} class={rows.length > atOnce ? "is-part" : undefined}>
      <table class={shown.view}>
        <caption class="hide">{split ? captionSplit : caption}</caption>
        <colgroup>
          <col class="ln is-old" />
          {split && <col />}
          <col class="ln" />
          {!split && <col class="sign" />}
          <col />
        </colgroup>
        <tbody>
          {rows.slice(part * atOnce, (part + 1) * atOnce).map((row, i) => (
            <RowOf key={i} row={row} {...shown} />
          ))}
        </tbody>
      </table>
    </div>
  ));
}

function RowOf({ row, ...shown }: Shown & { row: Row }) {
  const [open, setOpen] = useState(false);
  if ("same" in row) {
    if (open) return <>{row.same.map((at) => <RowOf key={at} row={{ old: at, new: at }} {...shown} />)}</>;
    return (
      <tr class="is-same">
        <td colSpan={4}>
          <button type="button" class="btn is-link" onClick={() => setOpen(true)}>
            {t().call.gap.same(row.same.length)}
          </button>
        </td>
      </tr>
    );
  }
  if (shown.view === "split") {
    return (
      <tr>
        <Side at={row.old} old {...shown} />
        <Side at={row.new} {...shown} />
      </tr>
    );
  }
  const both = row.old === row.new;
  return (
    <>
      {row.old !== undefined && <Unified at={row.old} {...shown} />}
      {row.new !== undefined && !both && <Unified at={row.new} {...shown} />}
    </>
  );
}

const kinds: Record<string, { row: string; sign: string; says: "added" | "removed" }> = {
  "+": { row: "is-add", sign: "+", says: "added" },
  "-": { row: "is-del", sign: "−", says: "removed" },
};

function Side({ at, old, lines, changed, piece }: Shown & { at: number | undefined; old?: boolean }) {
  const line = at === undefined ? undefined : lines[at];
  if (!line) {
    return (
      <>
        <td class="ln is-void" />
        <td class="code is-void" />
      </>
    );
  }
  const kind = kinds[line.op];
  return (
    <>
      <td class={`ln ${kind?.row ?? ""}`}>{old ? line.old : line.new}</td>
      <td class={`code ${kind?.row ?? ""}`}>
        {kind && <span class="hide">{t().call.diff[kind.says]} </span>}
        <Code line={line} words={changed.get(at!)} piece={linePiece(piece, at!)} />
      </td>
    </>
  );
}

function Unified({ at, lines, changed, piece }: Shown & { at: number }) {
  const line = lines[at]!;
  const kind = kinds[line.op];
  return (
    <tr class={kind?.row}>
      <td class="ln is-old">{line.old}</td>
      <td class="ln">{line.new}</td>
      <td class="sign" aria-label={kind && t().call.diff[kind.says]}>
        {kind?.sign}
      </td>
      <td class="code">
        <Code line={line} words={changed.get(at)} piece={linePiece(piece, at)} />
      </td>
    </tr>
  );
}

function Code({ line: { op, text }, words, piece }: { line: Line; words: Words | undefined; piece: string }) {
  const segments = words ? [{ text: words.before }, { text: words.changed, asked: true }, { text: words.after }] : [{ text }];
  return <Text segments={segments} piece={piece} characters={lineMost} mark={op === "+" ? "ins" : "del"} />;
}
