import type { Question } from "../api.gen";
import { Foreign } from "../ui/text";
import { t } from "../words/words";

/** What was filled in for one question. */
export interface Fill {
  chosen: readonly string[];
  other: boolean;
  text: string;
}
export type Filled = Readonly<Record<string, Fill>>;

const nothing: Fill = { chosen: [], other: false, text: "" };

/** The answers as the agent gets them; a question without one is left out. */
export function answersOf(questions: readonly Question[], filled: Filled): Record<string, string> {
  const out: Record<string, string> = {};
  for (const q of questions) {
    const { chosen, other, text } = filled[q.key] ?? nothing;
    // In the order of the options, not of the clicks.
    const values = q.options.map((o) => o.value).filter((v) => chosen.includes(v));
    if (other && text.trim()) values.push(text.trim());
    if (values.length > 0) out[q.key] = values.join(", ");
  }
  return out;
}

/** What was filled in to get these answers. Words that are no option are other words: none is lost. */
export function filledBy(questions: readonly Question[], answers: Record<string, string> = {}): Filled {
  return Object.fromEntries(questions.map((q) => [q.key, fillOf(q, answers[q.key] ?? "")]));
}

function fillOf({ multi, options }: Question, answer: string): Fill {
  const values = options.map((o) => o.value);
  if (values.includes(answer)) return { ...nothing, chosen: [answer] };
  const chosen: string[] = [];
  let rest = answer;
  for (const v of multi ? values : []) {
    if (rest !== v && !rest.startsWith(v + ", ")) continue;
    chosen.push(v);
    rest = rest.slice(v.length + 2);
  }
  return { chosen, other: rest !== "", text: rest };
}

interface Props {
  questions: readonly Question[];
  filled: Filled;
  fill: (filled: Filled) => void;
  off: boolean;
}

export function Questions({ questions, filled, fill, off }: Props) {
  return (
    <>
      {questions.map((q, i) => (
        <One key={q.key} name={`q${i}`} question={q} fill={filled[q.key] ?? nothing} off={off} set={(f) => fill({ ...filled, [q.key]: f })} />
      ))}
    </>
  );
}

function One({ name, question, fill, off, set }: { name: string; question: Question; fill: Fill; off: boolean; set: (f: Fill) => void }) {
  const { multi = false } = question;
  const type = multi ? "checkbox" : "radio";
  const toggle = (value: string) => {
    if (!multi) return set({ ...fill, chosen: [value], other: false });
    const has = fill.chosen.includes(value);
    set({ ...fill, chosen: has ? fill.chosen.filter((v) => v !== value) : [...fill.chosen, value] });
  };
  const useOther = (other: boolean, text = fill.text) => set({ chosen: multi ? fill.chosen : [], other, text });
  return (
    <fieldset class="question" disabled={off}>
      <legend>
        {question.header && (
          <span class="chip">
            <Foreign text={question.header} />
          </span>
        )}
        <span>
          <Foreign text={question.question} />
          {multi && !off && <span class="hint"> {t().call.question.any}</span>}
        </span>
      </legend>
      <div class="choices is-tall">
        {question.options.map((o) => (
          <label key={o.value} class="choice">
            <input type={type} name={name} checked={fill.chosen.includes(o.value)} onChange={() => toggle(o.value)} />
            <b>
              <Foreign text={o.label} />
            </b>
            {o.description && (
              <small>
                <Foreign text={o.description} />
              </small>
            )}
          </label>
        ))}
        {(!off || fill.other) && (
          <div class="choice other">
            <input
              type={type}
              name={name}
              aria-label={t().call.question.other}
              checked={fill.other}
              onChange={(e) => useOther(e.currentTarget.checked)}
            />
            <b>{t().call.question.other}</b>
            {off ? (
              <span>
                <Foreign text={fill.text} />
              </span>
            ) : (
              <input
                class="text"
                aria-label={t().call.question.otherAnswer}
                placeholder={t().call.question.own}
                value={fill.text}
                onInput={(e) => useOther(true, e.currentTarget.value)}
              />
            )}
          </div>
        )}
      </div>
    </fieldset>
  );
}
