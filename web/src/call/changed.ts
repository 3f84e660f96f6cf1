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

function pair(lines: readonly Line[], i: number, k: number, out: Map<number, Words>): void {
  const [a, b] = [lines[i]!.text, lines[k]!.text];
  const [head, tail] = Math.max(a.length, b.length) > manyWords ? sameEnds(a, b) : sameWords(a, b);
  if ((a.slice(0, head) + a.slice(a.length - tail)).trim() === "") return; // nothing in common: the whole line is the change
  for (const [at, text] of [[i, a], [k, b]] as const) {
    const end = text.length - tail;
    out.set(at, { before: text.slice(0, head), changed: text.slice(head, end), after: text.slice(end) });
  }
}

/** A named character is one token: cutting it would make it look like text. */
const token = /⟨[^⟩]*⟩|[\p{L}\p{N}_]+|\s+|./gsu;

/** How much of two texts is the same in front and behind, in whole words. */
function sameWords(one: string, other: string): [number, number] {
  const [a, b] = [one.match(token) ?? [], other.match(token) ?? []];
  const [head, tail] = ends(a.length, b.length, (i, k) => a.at(i) === b.at(k));
  const size = (words: string[]) => words.join("").length;
  return [size(a.slice(0, head)), size(a.slice(a.length - tail))];
}

/** Longer lines than this are compared by characters: their words would be too many. */
const manyWords = 20_000;

function sameEnds(a: string, b: string): [number, number] {
  let [head, tail] = ends(a.length, b.length, (i, k) => a.at(i) === b.at(k));
  const open = head > 0 ? a.lastIndexOf("⟨", head - 1) : -1;
  if (open >= 0 && a.lastIndexOf("⟩", head - 1) < open) head = open;
  if (/[\uD800-\uDBFF]/.test(a[head - 1] ?? "")) head--;
  const rest = a.slice(a.length - tail);
  const close = rest.indexOf("⟩");
  if (close >= 0 && (rest.indexOf("⟨") < 0 || rest.indexOf("⟨") > close)) tail -= close + 1;
  if (/[\uDC00-\uDFFF]/.test(a[a.length - tail] ?? "")) tail--;
  return [head, tail];
}

function ends(a: number, b: number, same: (i: number, k: number) => boolean): [number, number] {
  const shorter = Math.min(a, b);
  let head = 0;
  while (head < shorter && same(head, head)) head++;
  let tail = 0;
  while (tail < shorter - head && same(-1 - tail, -1 - tail)) tail++;
  return [head, tail];
}
