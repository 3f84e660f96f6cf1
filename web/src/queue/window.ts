// Which part of a long list is drawn. Rows have fixed heights, so places are
// known without drawing; a short list is drawn whole.

import type { Group, Run } from "./store";

/** With fewer rows than this, drawing all of them costs nothing. */
export const drawnWhole = 200;
/** How far beyond the edges is drawn, so that scrolling shows no gap. */
export const beyond = 600;

export interface Sizes {
  row: number;
  sessionHead: number;
  batchHead: number;
}
export const wide: Sizes = { row: 56, sessionHead: 44, batchHead: 32 };
export const narrow: Sizes = { row: 64, sessionHead: 44, batchHead: 44 };

export type Piece = { gap: number } | { group: Group; pieces: ({ gap: number } | { run: Run })[] };

const runHeight = (run: Run, s: Sizes) => run.calls.length * s.row + (run.size < 2 ? 0 : s.batchHead);

/** What to draw between two places, with gaps in place of the rest. */
export function cut(groups: readonly Group[], from: number, to: number, s: Sizes): Piece[] {
  const out: Piece[] = [];
  let at = 0;
  for (const group of groups) {
    const heights = group.runs.map((r) => runHeight(r, s));
    const height = heights.reduce((sum, h) => sum + h, s.sessionHead);
    if (at + height < from || at > to) {
      addGap(out, height);
    } else {
      const pieces: ({ gap: number } | { run: Run })[] = [];
      let top = at + s.sessionHead;
      group.runs.forEach((run, i) => {
        const h = heights[i]!;
        if (top + h < from || top > to) addGap(pieces, h);
        else pieces.push({ run });
        top += h;
      });
      out.push({ group, pieces });
    }
    at += height;
  }
  return out;
}

function addGap(to: object[], height: number): void {
  const last = to.at(-1) as { gap?: number } | undefined;
  if (last?.gap !== undefined) last.gap += height;
  else to.push({ gap: height });
}

/** Where a row begins, or -1. */
export function topOf(groups: readonly Group[], id: string, s: Sizes): number {
  let at = 0;
  for (const group of groups) {
    at += s.sessionHead;
    for (const run of group.runs) {
      const i = run.calls.findIndex((c) => c.id === id);
      if (i >= 0) return at + (run.size < 2 ? 0 : s.batchHead) + i * s.row;
      at += runHeight(run, s);
    }
  }
  return -1;
}
