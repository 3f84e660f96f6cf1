import type { Line } from "../api.gen";

/** A row of a diff: the lines on its two sides by index, or lines that stay as they are. */
export type Row = { old?: number; new?: number } | { same: number[] };

/** More unchanged lines than this between changes are folded. */
const fold = 12;
const around = 3;

/** Pairs the lines for two columns; in one column each has its own row. */
export function rowsOf(lines: readonly Line[], split: boolean, folds: boolean): Row[] {
  const out: Row[] = [];
  for (let i = 0; i < lines.length; ) {
    const same = run(lines, i, " ");
    if (same > 0) {
      out.push(...kept(i, same, folds, i === 0, i + same === lines.length));
      i += same;
      continue;
    }
    const removed = run(lines, i, "-");
    const added = run(lines, i + removed, "+");
    if (removed + added === 0) {
      out.push({ old: i, new: i }); // no sign that we know: on both sides
      i++;
      continue;
    }
    for (let k = 0; k < (split ? Math.max(removed, added) : removed); k++) {
      out.push({ ...(k < removed && { old: i + k }), ...(split && k < added && { new: i + removed + k }) });
    }
    for (let k = 0; !split && k < added; k++) out.push({ new: i + removed + k });
    i += removed + added;
  }
  return out;
}

function kept(from: number, count: number, folds: boolean, first: boolean, last: boolean): Row[] {
  const row = (at: number): Row => ({ old: at, new: at });
  const all = Array.from({ length: count }, (_, k) => from + k);
  if (!folds || count <= fold) return all.map(row);
  const before = first ? 0 : around;
  const after = last ? 0 : around;
  return [...all.slice(0, before).map(row), { same: all.slice(before, count - after) }, ...all.slice(count - after).map(row)];
}

function run(lines: readonly Line[], from: number, op: string): number {
  let n = 0;
  while (lines[from + n]?.op === op) n++;
  return n;
}
