// The words that differ between lines that replace each other.

import type { Line } from "../api.gen";

export interface Words {
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
