// A plan, set as Markdown. It makes elements, never markup: HTML in the text is
// text, a link shows where it leads and can't be followed, an image is not loaded.

import type { ComponentChildren } from "preact";
import { Foreign } from "../ui/text";
import { t } from "../words/words";

export function Markdown({ text }: { text: string }) {
  return <div class="md">{blocks(text.split("\n"))}</div>;
}

const fence = /^\s*(`{3,}|~{3,})(.*)$/;
const heading = /^\s{0,3}(#{1,6})\s+(.*?)\s*#*\s*$/;
const item = /^(\s*)([-*+]|\d{1,9}[.)])\s+(.*)$/;
const rule = /^\s{0,3}([-*_])(\s*\1){2,}\s*$/;
const quote = /^\s{0,3}>\s?(.*)$/;

/** Deeper than this, lists and quotes stay as they were written. */
const deepest = 8;

function blocks(lines: readonly string[], depth = 0): ComponentChildren[] {
  if (depth > deepest) return [<pre><Foreign text={lines.join("\n")} /></pre>];
  const out: ComponentChildren[] = [];
  for (let i = 0; i < lines.length; ) {
    const line = lines[i]!;
    const [made, used] = fenced(lines, i) ?? listed(lines, i, depth) ?? quoted(lines, i, depth) ?? one(line) ?? paragraph(lines, i);
    if (made) out.push(made);
    i += used;
  }
  return out;
}

type Made = [ComponentChildren, number];

function fenced(lines: readonly string[], at: number): Made | null {
  const mark = fence.exec(lines[at]!)?.[1];
  if (!mark) return null;
  let end = at + 1;
  while (end < lines.length && !lines[end]!.trim().startsWith(mark)) end++;
  const language = fence.exec(lines[at]!)?.[2]?.trim();
  const made = (
    <pre>
      {language && (
        <small>
          <Foreign text={language} />
          {"\n"}
        </small>
      )}
      <Foreign text={lines.slice(at + 1, end).join("\n")} />
    </pre>
  );
  return [made, end + 1 - at];
}

function one(line: string): Made | null {
  if (line.trim() === "") return [null, 1];
  if (rule.test(line)) return [<hr />, 1];
  const found = heading.exec(line);
  if (!found) return null;
  const Name = (["h3", "h4", "h5", "h6"] as const)[Math.min(3, found[1]!.length - 1)]!;
  return [<Name>{inline(found[2]!)}</Name>, 1];
}

function quoted(lines: readonly string[], at: number, depth: number): Made | null {
  const inner: string[] = [];
  for (let found; (found = quote.exec(lines[at + inner.length] ?? "")); ) inner.push(found[1]!);
  return inner.length > 0 ? [<blockquote>{blocks(inner, depth + 1)}</blockquote>, inner.length] : null;
}

/** An item goes on with the lines that are indented below it. */
function listed(lines: readonly string[], at: number, depth: number): Made | null {
  const first = item.exec(lines[at]!);
  if (!first || rule.test(lines[at]!)) return null;
  const indent = first[1]!.length;
  const ordered = /\d/.test(first[2]!);
  const items: string[][] = [];
  let i = at;
  for (; i < lines.length; i++) {
    const line = lines[i]!;
    const found = item.exec(line);
    if (found && found[1]!.length <= indent) {
      if (found[1]!.length < indent || /\d/.test(found[2]!) !== ordered) break;
      items.push([found[3]!]);
    } else if (line.trim() === "") {
      if (!/^\s+\S/.test(lines[i + 1] ?? "") && !item.test(lines[i + 1] ?? "")) break;
      items.at(-1)!.push("");
    } else if (leading(line) > indent) items.at(-1)!.push(line.slice(Math.min(leading(line), indent + 2)));
    else break;
  }
  const body = items.map((it, k) => <li key={k}>{tight(it, depth)}</li>);
  const start = ordered ? Number.parseInt(first[2]!, 10) : 1;
  return [ordered ? <ol start={start}>{body}</ol> : <ul>{body}</ul>, Math.max(1, i - at)];
}

function leading(line: string): number {
  return line.length - line.trimStart().length;
}

function tight([first = "", ...rest]: readonly string[], depth: number): ComponentChildren {
  const task = /^\[([ xX])\]\s+(.*)$/.exec(first);
  const head = task ? <>{task[1] === " " ? "☐ " : "☑ "}{inline(task[2]!)}</> : inline(first);
  return (
    <>
      {head}
      {rest.length > 0 && blocks(rest, depth + 1)}
    </>
  );
}

function paragraph(lines: readonly string[], at: number): Made {
  let end = at + 1;
  const begins = (l: string) => l.trim() === "" || [fence, heading, item, rule, quote].some((p) => p.test(l));
  while (end < lines.length && !begins(lines[end]!)) end++;
  const table = lines.slice(at, end).every((l) => l.trim().startsWith("|"));
  const text = lines.slice(at, end).join("\n");
  return [table ? <pre><Foreign text={text} /></pre> : <p>{inline(text)}</p>, end - at];
}

/** Code first: nothing in it means anything. */
const span = /(`+)([^`]|[^`][\s\S]*?[^`])\1(?!`)|(!?)\[([^\]\n]*)\]\(([^)\n]*)\)|\*\*(\S[\s\S]*?)\*\*|(?<![\p{L}\p{N}])__(\S[\s\S]*?)__|\*(\S[^*\n]*?)\*|(?<![\p{L}\p{N}_])_(\S[^_\n]*?)_(?![\p{L}\p{N}_])/u;

function inline(text: string, depth = 0): ComponentChildren {
  const out: ComponentChildren[] = [];
  let rest = text;
  while (rest && depth < 8) {
    const found = span.exec(rest);
    if (!found) break;
    out.push(<Foreign text={rest.slice(0, found.index)} />);
    rest = rest.slice(found.index + found[0].length);
    const [, , code, bang, label, target, bold, bold2, thin, thin2] = found;
    if (code !== undefined) out.push(<code><Foreign text={code} /></code>);
    else if (label !== undefined) out.push(<Link label={label} target={target ?? ""} image={bang === "!"} />);
    else if (bold ?? bold2) out.push(<b>{inline((bold ?? bold2)!, depth + 1)}</b>);
    else out.push(<em>{inline((thin ?? thin2)!, depth + 1)}</em>);
  }
  out.push(<Foreign text={rest} />);
  return out;
}

/** Where it leads is shown whole, and nothing goes there. */
function Link({ label, target, image }: { label: string; target: string; image: boolean }) {
  return (
    <span class="md-link">
      {image && `${t().call.image}: `}
      <Foreign text={label} /> <code>(<Foreign text={target} />)</code>
    </span>
  );
}

