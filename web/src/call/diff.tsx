import type { Block, Line } from "../api.gen";
import { Foreign } from "../ui/text";

const kinds: Record<string, { row: string; sign: string; says: string }> = {
  "+": { row: "is-add", sign: "+", says: "added" },
  "-": { row: "is-del", sign: "−", says: "removed" },
};

export function Diff({ block }: { block: Block }) {
  const lines = withoutEnd(block.lines ?? []);
  const words = changedWords(lines);
  return (
    <section class="diff" aria-label="The change">
      <div class="diff-head">
        <code>
          <Foreign text={block.title || "Change"} />
        </code>
        <span class="muted grow">lines of the replaced text</span>
        <span class="nowrap">
          <span class="plus">+{block.added ?? 0}</span> <span class="minus">−{block.removed ?? 0}</span>
        </span>
      </div>
      {Array.from({ length: Math.ceil(lines.length / atOnce) }, (_, part) => (
        <div key={part} class={lines.length > atOnce ? "is-part" : undefined}>
          <table>
            <caption class="hide">Before and after in one column, numbered by the lines of the replaced text</caption>
            <colgroup>
              <col class="ln is-old" />
              <col class="ln" />
              <col class="sign" />
              <col />
            </colgroup>
            <tbody>
              {lines.slice(part * atOnce, (part + 1) * atOnce).map((line, i) => (
                <DiffLine key={i} line={line} words={words.get(part * atOnce + i)} />
              ))}
            </tbody>
          </table>
        </div>
      ))}
    </section>
  );
}

/** A text that ends in a line break has an empty last line. Where both sides end so, it says nothing. */
function withoutEnd(lines: readonly Line[]): readonly Line[] {
  const last = lines.at(-1);
  return last?.op === " " && last.text === "" ? lines.slice(0, -1) : lines;
}

/** A long diff is several tables: the browser can leave out those that are not in view, but not rows. */
const atOnce = 400;

function DiffLine({ line, words }: { line: Line; words: Words | undefined }) {
  const kind = kinds[line.op];
  return (
    <tr class={kind?.row}>
      <td class="ln is-old">{line.old}</td>
      <td class="ln">{line.new}</td>
      <td class="sign" aria-label={kind?.says}>
        {kind?.sign}
      </td>
      <td class="code">
        {words ? (
          <>
            <Foreign text={words.before} />
            {line.op === "+" ? (
              <ins>
                <Foreign text={words.changed} />
              </ins>
            ) : (
              <del>
                <Foreign text={words.changed} />
              </del>
            )}
            <Foreign text={words.after} />
          </>
        ) : (
          <Foreign text={line.text} />
        )}
      </td>
    </tr>
  );
}

interface Words {
  before: string;
  changed: string;
  after: string;
}

/**
 * Finds the words that differ between lines that replace each other: as many
 * removed as added, next to each other.
 */
export function changedWords(lines: readonly Line[]): Map<number, Words> {
  const out = new Map<number, Words>();
  for (let i = 0; i < lines.length; ) {
    const removed = runLength(lines, i, "-");
    const added = runLength(lines, i + removed, "+");
    if (removed > 0 && removed === added) {
      for (let k = i; k < i + removed; k++) pair(lines, k, k + removed, out);
    }
    i += Math.max(1, removed + added);
  }
  return out;
}

function runLength(lines: readonly Line[], from: number, op: string): number {
  let n = 0;
  while (lines[from + n]?.op === op) n++;
  return n;
}

/** A named character is one token: cutting it would make it look like text. */
const token = /⟨[^⟩]*⟩|[\p{L}\p{N}_]+|\s+|./gsu;

function pair(lines: readonly Line[], i: number, k: number, out: Map<number, Words>): void {
  const a = lines[i]!.text.match(token) ?? [];
  const b = lines[k]!.text.match(token) ?? [];
  const shorter = Math.min(a.length, b.length);
  let head = 0;
  while (head < shorter && a[head] === b[head]) head++;
  let tail = 0;
  while (tail < shorter - head && a.at(-1 - tail) === b.at(-1 - tail)) tail++;
  const same = [...a.slice(0, head), ...a.slice(a.length - tail)].join("");
  if (same.trim() === "") return; // nothing in common: the whole line is the change
  for (const [at, tokens] of [[i, a], [k, b]] as const) {
    const end = tokens.length - tail;
    out.set(at, {
      before: tokens.slice(0, head).join(""),
      changed: tokens.slice(head, end).join(""),
      after: tokens.slice(end).join(""),
    });
  }
}
