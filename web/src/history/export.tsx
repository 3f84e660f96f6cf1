import { useState } from "preact/hooks";
import { ask } from "../api";
import type { Call, Event } from "../api.gen";
import { t } from "../words/words";
import { given, wanted } from "./store";

type Part = { lines: string[]; next: boolean };

/** Everything that the list is narrowed to, or the trail: not only what is on the page. */
export function Export() {
  const [said, say] = useState("");
  const { history: w } = t();
  const write = async (name: string, head: string[], next: () => Promise<Part>) => {
    try {
      const lines = [...head];
      for (let more = true; more; ) {
        const part = await next();
        lines.push(...part.lines);
        more = part.next;
        say(w.exporting(lines.length));
      }
      save(name, lines);
      say("");
    } catch {
      say(w.notExported);
    }
  };
  return (
    <>
      <span class="muted" role="status">
        {said}
      </span>
      <button type="button" class="btn is-small" data-act="export" popovertarget="export">
        {w.export}
      </button>
      <div id="export" class="menu" popover="auto">
        <button type="button" class="btn" data-act="export-csv" popovertarget="export" popovertargetaction="hide" onClick={() => void write("calls.csv", [columns.join(",")], calls(toCsv))}>
          {w.exportCsv}
        </button>
        <button type="button" class="btn" data-act="export-json" popovertarget="export" popovertargetaction="hide" onClick={() => void write("calls.jsonl", [], calls((c) => JSON.stringify(c)))}>
          {w.exportJson}
        </button>
        <button type="button" class="btn" data-act="export-trail" popovertarget="export" popovertargetaction="hide" onClick={() => void write("trail.jsonl", [], trail())}>
          {w.exportTrail}
        </button>
      </div>
    </>
  );
}

function calls(line: (c: Call) => string): () => Promise<Part> {
  let after: string | undefined;
  return async () => {
    const part = await ask("History", { query: { ...given(wanted.peek()), limit: 500, ...(after ? { after } : {}) } });
    after = part.next;
    return { lines: part.calls.map(line), next: Boolean(after) };
  };
}

/** As "gatelatch audit verify" reads it. */
function trail(): () => Promise<Part> {
  let after = 0;
  return async () => {
    const { events, seq } = await ask("Trail", { query: { after } });
    after = events.at(-1)?.seq ?? seq;
    return { lines: events.map((e: Event) => JSON.stringify(e)), next: after < seq };
  };
}

const columns = ["id", "created", "settled", "state", "by", "note", "tool", "subject", "project", "session", "agent", "rule", "outcome"];

function toCsv(c: Call): string {
  const rule = c.verdict.reasons?.find((r) => r.rule)?.rule;
  const by = c.decided && (c.decided.by.name ?? c.decided.by.kind);
  return [c.id, c.created, c.decided?.at, c.state, by, c.decided?.note, c.tool, c.card.subject, c.session.project, c.session.id, c.agent, rule, c.outcome?.kind]
    .map(cell)
    .join(",");
}

/** A cell that a spreadsheet would take for a formula is told to be text. */
function cell(text = ""): string {
  const plain = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\n\r]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
}

function save(name: string, lines: string[]): void {
  const url = URL.createObjectURL(new Blob(lines.map((l) => l + "\n"), { type: "application/octet-stream" }));
  const a = document.createElement("a");
  a.href = url;
  a.download = `gatelatch-${name}`;
  a.click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}
