import { Fragment } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Call } from "../api.gen";
import { ModeChip } from "../modes/control";
import { agentName, projectName } from "../session";
import { sameAs } from "../queue/store";
import { isSettled, isYou } from "../state";
import { Fill } from "../words/fill";
import { t } from "../words/words";
import { Icon } from "../ui/icon";
import { Foreign } from "../ui/text";
import { Since, Until } from "../ui/time";
import { useArming } from "./arming";
import { AllList, firstTicks, lookAtRest, restOf } from "./all";
import { Beside } from "./beside";
import { Blocks } from "./blocks";
import { ConfirmForm } from "./confirm";
import { DecideBar, SettledBar, type Step } from "./decide";
import { InputForm, textOf } from "./input";
import { longPieces, SeenContext } from "./long";
import { choices, PlanChoice } from "./plan";
import { answersOf, filledBy, Questions, type Filled } from "./questions";
import { firstDraft, RememberForm } from "./remember";
import { headline } from "./says";
import { Strip } from "./strip";
import { Why } from "./why";

interface Props {
  call: Call;
  onBack: () => void;
  /** In the history nothing is decided, whatever the state. */
  readOnly?: boolean;
}

export function CallCard({ call, onBack, readOnly = false }: Props) {
  const card = useRef<HTMLElement>(null);
  const shown = `${call.id} ${call.digest}`;
  const [filled, fill] = useFor<Filled>(shown, {});
  const [choice, choose] = useFor<string>(shown, choices[0]);
  const [draft, redraft] = useFor(shown, firstDraft(call));
  const first = useMemo(() => textOf(call), [call]);
  const [text, write] = useFor(shown, first);
  const [step, setStep] = useFor<Step>(shown, "look");
  const [confirm, type] = useFor(shown, "");
  const [ticked, tick] = useFor<ReadonlySet<string> | null>(call.batch.id, null);
  const [seen, setSeen] = useFor<ReadonlySet<string>>(shown, none);
  const long = useMemo(() => longPieces(call), [call]);
  const see = (piece: string) => !seen.has(piece) && setSeen(new Set([...seen, piece]));
  const go = (to: Step) => {
    redraft({ ...draft, mode: "" }); // a mode is chosen anew each time
    if (to === "confirm") type("");
    if (to === "all") tick(firstTicks(call));
    setStep(to);
  };
  const typed = { remember: draft, edit: text.text, confirm, all: [...(ticked ?? []), ...restOf(call).map((c) => c.digest)], look: "", say: "" }[step];
  const armed = useArming(JSON.stringify([shown, step, typed, sameAs(call).length]), card);
  useEffect(() => void card.current?.scrollTo(0, 0), [shown]);

  // Drawn once for each state of the call: arming and typing must not draw a long diff again.
  const inFull = useMemo(() => [<Blocks key="b" call={call} />, <Why key="w" call={call} />], [call]);

  const open = !readOnly && !isSettled(call);
  const named = open ? { "data-call": call.id } : { "data-settled": call.id };
  const questions = call.card.blocks.flatMap((b) => b.questions ?? []);
  const names = ["card", readOnly && "is-past"].filter(Boolean).join(" ");
  const says = (
    <h2 class="says" id="says">
      <Foreign text={headline(call)} />
    </h2>
  );
  const touches = <Strip call={call} />;
  const beside = [<Fragment key="s">{says}</Fragment>, <Fragment key="t">{touches}</Fragment>, ...inFull];
  const bar = { call, armed, answers: answersOf(questions, filled), questions: questions.length, choice, draft, text, step, go, typed: confirm, ticked: ticked ?? none, seen: long.every((p) => seen.has(p)) };
  const secondly = open && step !== "look" && step !== "say";
  return (
    <SeenContext.Provider value={{ seen, see }}>
    <article ref={card} class={names} {...named} aria-labelledby="says">
      <header class={secondly ? "card-head is-slim" : "card-head"}>
        <Where call={call} onBack={onBack} {...(open && step !== "all" && { all: () => void lookAtRest(call).then(() => go("all")) })} />
        {!secondly && says}
        {!secondly && touches}
      </header>
      {secondly && step === "remember" && (
        <Beside title={t().call.remember.title} call={beside} send={() => press("remember-send")}>
          <RememberForm call={call} draft={draft} change={redraft} />
        </Beside>
      )}
      {secondly && step === "edit" && (
        <Beside title={t().call.input.title} call={beside} send={() => press("edit-send")}>
          <InputForm call={call} text={text} change={write} />
        </Beside>
      )}
      {secondly && step === "confirm" && (
        <Beside title={t().call.confirm.title} call={beside} send={() => press("confirm-send")}>
          <ConfirmForm call={call} typed={confirm} type={type} />
        </Beside>
      )}
      {secondly && step === "all" && <AllList call={call} ticked={ticked ?? none} tick={tick} />}
      {!secondly && (
        <div class="card-body" role="group" aria-label={t().call.inFull}>
          <Questions questions={questions} filled={open ? filled : filledBy(questions, call.decided?.answers)} fill={fill} off={!open} />
          {call.kind === "plan" && (open || call.decided?.choice) && (
            <PlanChoice choice={open ? choice : call.decided!.choice!} choose={choose} off={!open} />
          )}
          {inFull}
        </div>
      )}
      {open ? <DecideBar {...bar} /> : <SettledBar call={call} readOnly={readOnly} />}
    </article>
    </SeenContext.Provider>
  );
}

const none: ReadonlySet<string> = new Set();

/** A key in a field presses the button, so that what holds for the button holds for the key. */
function press(act: string): void {
  document.querySelector<HTMLElement>(`article.card [data-act="${act}"]`)?.click();
}

/** State that belongs to what the key names and starts anew with the next. */
function useFor<T>(key: string, initial: T): [T, (value: T) => void] {
  const [state, set] = useState({ key, value: initial });
  return [state.key === key ? state.value : initial, (value) => set({ key, value })];
}

function Where({ call, onBack, all }: { call: Call; onBack: () => void; all?: () => void }) {
  const words = t().call;
  const { batch, session } = call;
  return (
    <div class="where">
      <button type="button" class="back" aria-label={words.backToList} onClick={onBack}>
        <Icon name="back" />
      </button>
      <Icon name={call.card.icon} />
      <b class="cut tool">
        <Foreign text={call.tool} />
      </b>
      <Sep />
      <b class="cut">
        <Foreign text={projectName(session)} />
      </b>
      <Sep wide />
      <span class="cut agent is-wide">
        <Foreign text={agentName(session)} />
      </span>
      {call.dir && (
        <span class="path is-wide">
          <Sep />
          <code title={call.dir}>
            <Foreign text={call.dir} />
          </code>
        </span>
      )}
      <span class="grow" />
      {!isSettled(call) && <ModeChip of={call} />}
      {call.edited && (
        <span class="chip is-close">
          {words.edited} {isYou(call.edited.by) && <span class="is-wide">{words.byYou}</span>}
        </span>
      )}
      {batch.size > 1 && (
        <span class={all ? "is-wide" : undefined}>
          {words.place(batch.position, batch.size)}
          <span class="is-wide"> {words.inBatch}</span>
        </span>
      )}
      {all && batch.size > 1 && restOf(call).length > 1 && (
        <button type="button" class="btn is-link" data-act="all" onClick={all}>
          {words.all.open}
        </button>
      )}
      {!isSettled(call) && (
        <span class="state">
          <Icon name="wait" />
          <span>
            <span class="is-wide">{words.waiting} </span>
            <Since at={call.created} />
            {call.deadline && (
              <span class="is-wide">
                <Fill text={words.expiresIn} gaps={{ time: <Until at={call.deadline} /> }} />
              </span>
            )}
          </span>
        </span>
      )}
    </div>
  );
}

function Sep({ wide = false }: { wide?: boolean }) {
  return (
    <span class={wide ? "sep is-wide" : "sep"} aria-hidden="true">
      /
    </span>
  );
}
