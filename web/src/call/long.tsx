// What is long is shown by its head, its tail and the count of what is between.
// A call can't be allowed before all of it was seen.

import { createContext, type ComponentChildren } from "preact";
import { useContext, useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Block, Call, Segment } from "../api.gen";
import { t } from "../words/words";

export const most = { lines: 240, characters: 12_000 };
export const head = { lines: 14, characters: 3_000 };
export const tail = { lines: 8, characters: 1_500 };

/** A line of a diff that is longer than this is cut by itself, as a long text is. */
export const lineMost = 4_000;

/** Which pieces were seen, by name, and how to say so. */
export interface Seen {
  seen: ReadonlySet<string>;
  see: (piece: string) => void;
}
export const SeenContext = createContext<Seen>({ seen: new Set(), see: () => undefined });

/** The names of the pieces of a call that are too long to be seen at once. */
export function longPieces({ card }: Call): string[] {
  return card.blocks.flatMap((b, i) => {
    if (b.kind === "form") return (b.fields ?? []).flatMap((f, k) => (isLong([{ text: f.text }]) ? [`${i}.${k}`] : []));
    return [...(isLongBlock(b) ? [String(i)] : []), ...longLines(b).map((k) => linePiece(String(i), k))];
  });
}

export const linePiece = (piece: string, line: number) => `${piece}:${line}`;

/** The lines of a diff that are cut, but for those that are in the file already. */
function longLines(block: Block): number[] {
  const own = (op: string) => op !== " " || !folds(block);
  return (block.lines ?? []).flatMap(({ op, text }, k) => (text.length > lineMost && own(op) ? [k] : []));
}

/** Unchanged lines of a file are known; those of a text that is only replaced are a part of the call. */
export function folds({ note }: Block): boolean {
  return note === "file" || note === "cell";
}

export function isLongBlock(block: Block): boolean {
  const { lines, segments } = block;
  if (!lines) return isLong(segments ?? []);
  const own = folds(block) ? lines.filter((l) => l.op !== " ") : lines;
  const size = own.reduce((sum, { text }) => sum + Math.min(text.length, lineMost), 0);
  return own.length > most.lines || size > most.characters * 3;
}

export function isLong(pieces: readonly { text: string }[], characters = most.characters): boolean {
  let size = 0;
  let lines = 0;
  for (const { text } of pieces) {
    size += text.length;
    lines += text.split("\n").length - 1;
  }
  return size > characters || lines > most.lines;
}

/** Cuts text for head, middle and tail. Lines stay whole where they are short enough, names of characters always. */
export function cut(segments: readonly Segment[]): { head: Segment[]; between: Segment[]; tail: Segment[]; lines: number; characters: number } {
  const text = segments.map((s) => s.text).join("");
  const first = place(text, Math.min(nth(text, head.lines), head.characters));
  const last = Math.max(first, place(text, Math.max(text.length - tail.characters, nthLast(text, tail.lines))));
  const middle = text.slice(first, last);
  return {
    head: slice(segments, 0, first),
    between: slice(segments, first, last),
    tail: slice(segments, last, text.length),
    lines: middle.split("\n").length - 1,
    characters: middle.length,
  };
}

function nth(text: string, lines: number): number {
  let at = 0;
  for (let i = 0; i < lines; i++) {
    at = text.indexOf("\n", at) + 1;
    if (at === 0) return text.length;
  }
  return at;
}

function nthLast(text: string, lines: number): number {
  let at = text.length;
  for (let i = 0; i < lines; i++) {
    at = text.lastIndexOf("\n", at - 1);
    if (at < 0) return 0;
  }
  return at + 1;
}

/** Not inside the name of a character, nor inside one that takes two units: there or a little behind. */
export function place(text: string, at: number): number {
  const open = text.lastIndexOf("⟨", at - 1);
  const close = text.indexOf("⟩", open);
  if (open >= 0 && close >= at) return close + 1;
  return /[\uDC00-\uDFFF]/.test(text[at] ?? "") ? at + 1 : at;
}

function slice(segments: readonly Segment[], from: number, to: number): Segment[] {
  let at = 0;
  return segments.flatMap((s) => {
    const text = s.text.slice(Math.max(0, from - at), Math.max(0, to - at));
    at += s.text.length;
    return text ? [{ ...s, text }] : [];
  });
}

interface Props {
  piece: string;
  label: string;
  head: ComponentChildren;
  /** In parts, which are drawn one after the other: the page goes on meanwhile. */
  between: () => ComponentChildren[];
  tail: ComponentChildren;
}

/** Head and tail, with the rest between them once it is asked for. */
export function Long({ piece, label, head, between, tail }: Props) {
  const { seen, see } = useContext(SeenContext);
  const [open, setOpen] = useState(seen.has(piece));
  const [drawn, draw] = useState(1);
  // Drawn once: what is there already is the same again and is passed over.
  const parts = useMemo(() => (open ? between() : []), [open, between]);
  const whole = open && drawn >= parts.length;
  useEffect(() => {
    if (!open || whole) return;
    const timer = setTimeout(() => draw(drawn + 1));
    return () => clearTimeout(timer);
  }, [open, drawn, whole]);
  const end = useRef<HTMLDivElement>(null);
  useEffect(() => {
    if (!whole || !end.current) return;
    // Where the browser can't tell what is in view, opening it has to do.
    if (typeof IntersectionObserver === "undefined") return see(piece);
    // What lies behind the bar is not in view.
    const bar = end.current.closest(".card")?.querySelector(".decide")?.clientHeight ?? 0;
    const watch = new IntersectionObserver((found) => found.some((e) => e.isIntersecting) && see(piece), { rootMargin: `0px 0px -${bar}px 0px` });
    watch.observe(end.current);
    return () => watch.disconnect();
  }, [whole, piece, between]);
  const words = t().call.gap;
  return (
    <>
      {head}
      {open ? (
        <>
          {parts.slice(0, drawn)}
          {whole && (
            <div ref={end} class={seen.has(piece) ? "gap-end" : "gap-end gap-unread"}>
              {!seen.has(piece) && words.reading}
            </div>
          )}
        </>
      ) : (
        <div class="gap-unread" data-gap={piece}>
          <span class="grow">{label}</span>
          <button type="button" class="btn is-small" data-act="show-all" onClick={() => setOpen(true)}>
            {words.show}
          </button>
        </div>
      )}
      {tail}
    </>
  );
}
