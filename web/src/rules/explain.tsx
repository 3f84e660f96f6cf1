import type { Explained, LayerSaid } from "../api.gen";
import { past } from "../history/store";
import { calls } from "../queue/store";
import { basename, Foreign } from "../ui/text";
import { t } from "../words/words";
import { Effect } from "./rules";
import { explain, explained, question, wrong } from "./store";

const tools = ["Bash", "Edit", "Write", "Read", "WebFetch", "Skill", "Glob", "Grep", "NotebookEdit"];

/** A test box: what would happen to a call that nobody makes. */
export function ExplainBox() {
  const { rules: w } = t();
  const q = question.value;
  const projects = [...new Set([...calls.value.values(), ...past.value].map((c) => c.session.project).filter((p): p is string => Boolean(p)))].slice(0, 20);
  const set = (change: Partial<typeof q>) => (question.value = { ...question.value, ...change });
  const send = (event: Event) => {
    event.preventDefault();
    void explain(question.value);
  };
  return (
    <section class="explain" aria-label={w.what}>
      <form onSubmit={send}>
        <h2>{w.what}</h2>
        <div class="explain-of">
          <label>
            <span class="label">{w.tool}</span>
            <input class="text mono" list="tools" data-field="explain-tool" value={q.tool} onInput={(e) => set({ tool: e.currentTarget.value.trim() })} />
            <datalist id="tools">
              {tools.map((name) => (
                <option key={name} value={name} />
              ))}
            </datalist>
          </label>
          <label>
            <span class="label">{w.projectField}</span>
            <select data-field="explain-project" value={q.project} onChange={(e) => set({ project: e.currentTarget.value })}>
              <option value="">{w.noProject}</option>
              {projects.map((p) => (
                <option key={p} value={p}>
                  {basename(p)}
                </option>
              ))}
            </select>
          </label>
        </div>
        <label>
          <span class="label">{w.call}</span>
          <textarea
            class="text mono"
            data-field="explain-input"
            rows={2}
            spellcheck={false}
            placeholder={w.callHint}
            value={q.input}
            onInput={(e) => set({ input: e.currentTarget.value })}
            onKeyDown={(e) => e.key === "Enter" && !e.shiftKey && send(e)}
          />
        </label>
        <div class="line">
          <span class="label grow">{w.notRun}</span>
          <button type="submit" class="btn is-small" data-act="explain">
            {w.explain}
          </button>
        </div>
      </form>
      <div role="status">
        {wrong.value && <p class="hint is-wrong">{wrong.value}</p>}
        {explained.value && <Said said={explained.value} />}
      </div>
    </section>
  );
}

function Said({ said }: { said: Explained }) {
  const { rules: w } = t();
  const { effect, reasons } = said.verdict;
  const telling = reasons?.find((r) => r.effect === effect);
  return (
    <div class="explain-said" data-said={effect}>
      <p>
        <Effect effect={effect} /> <span class="muted">{w.results[effect]}</span>
      </p>
      {said.card.blocks
        .filter((b) => b.segments)
        .slice(0, 1)
        .map((b, i) => (
          <pre key={i}>
            {b.segments!.map((s, k) => (s.asked ? <mark key={k} class="asked"><Foreign text={s.text} /></mark> : <Foreign key={k} text={s.text} />))}
          </pre>
        ))}
      {telling && (
        <p>
          <Foreign text={telling.message} />
        </p>
      )}
      <ol class="trail">
        {said.layers.map((l) => (
          <Layer key={l.layer} said={l} />
        ))}
        <li class="is-last">
          <span>{w.result}</span>
          <span>
            <Effect effect={effect} />
          </span>
        </li>
      </ol>
    </div>
  );
}

function Layer({ said }: { said: LayerSaid }) {
  const { rules: w } = t();
  return (
    <li>
      <span>{w.layerNames[said.layer] ?? said.layer}</span>
      <span>
        {!said.reasons && <span class="muted">{w.silent}</span>}
        {said.reasons?.map((r, i) => (
          <span key={i} class="said">
            <Effect effect={r.effect} />{" "}
            {r.rule ? (
              <code>
                <Foreign text={r.rule} />
              </code>
            ) : (
              <Foreign text={r.message} />
            )}{" "}
            <span class="muted">
              <Foreign text={r.source && basename(r.source)} />
            </span>
          </span>
        ))}
      </span>
    </li>
  );
}
