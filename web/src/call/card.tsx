import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { Call } from "../api.gen";
import { agentName, projectName } from "../queue/list";
import { isSettled } from "../state";
import { Icon } from "../ui/icon";
import { Foreign } from "../ui/text";
import { Since, Until } from "../ui/time";
import { useArming } from "./arming";
import { Blocks } from "./blocks";
import { DecideBar, SettledBar } from "./decide";
import { answersOf, filledBy, Questions, type Filled } from "./questions";
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
  const [saying, say] = useFor(shown, false);
  const armed = useArming(JSON.stringify([shown, saying]), card);
  useEffect(() => void card.current?.scrollTo(0, 0), [shown]);

  // Drawn once for each state of the call: arming and typing must not draw a long diff again.
  const inFull = useMemo(() => [<Blocks key="b" call={call} />, <Why key="w" call={call} />], [call]);

  const open = !readOnly && !isSettled(call);
  const named = open ? { "data-call": call.id } : { "data-settled": call.id };
  const questions = call.card.blocks.flatMap((b) => b.questions ?? []);
  const names = ["card", readOnly && "is-past"].filter(Boolean).join(" ");
  return (
    <article ref={card} class={names} {...named} aria-labelledby="says">
      <header class="card-head">
        <Where call={call} onBack={onBack} />
        <h2 class="says" id="says">
          <Foreign text={call.card.says} />
        </h2>
      </header>
      <div class="card-body" role="group" aria-label="The call in full">
        <Questions questions={questions} filled={open ? filled : filledBy(questions, call.decided?.answers)} fill={fill} off={!open} />
        {inFull}
      </div>
      {open ? (
        <DecideBar
          call={call}
          armed={armed}
          answers={answersOf(questions, filled)}
          questions={questions.length}
          saying={saying}
          say={say}
        />
      ) : (
        <SettledBar call={call} readOnly={readOnly} />
      )}
    </article>
  );
}

/** State that belongs to what the key names and starts anew with the next. */
function useFor<T>(key: string, initial: T): [T, (value: T) => void] {
  const [state, set] = useState({ key, value: initial });
  return [state.key === key ? state.value : initial, (value) => set({ key, value })];
}

function Where({ call, onBack }: { call: Call; onBack: () => void }) {
  const { batch, session } = call;
  return (
    <div class="where">
      <button type="button" class="back" aria-label="Back to the list" onClick={onBack}>
        <Icon name="back" />
      </button>
      <Icon name={call.card.icon} />
      <b class="cut">
        <Foreign text={call.tool} />
      </b>
      <Sep />
      <b class="cut">
        <Foreign text={projectName(session)} />
      </b>
      <Sep wide />
      <span class="is-wide">
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
      {batch.size > 1 && (
        <span>
          {batch.position} of {batch.size}
          <span class="is-wide"> in this batch</span>
        </span>
      )}
      {!isSettled(call) && (
        <span class="state">
          <Icon name="wait" />
          <span>
            <span class="is-wide">waiting </span>
            <Since at={call.created} />
            {call.deadline && (
              <span class="is-wide">
                , expires in <Until at={call.deadline} />
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
