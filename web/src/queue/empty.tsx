import { outcome } from "../call/decision";
import { News } from "../call/news";
import { known, past } from "../history/store";
import { go, subjectOf } from "../state";
import { Command } from "../ui/copy";
import { Icon } from "../ui/icon";
import { Foreign } from "../ui/text";
import { Since } from "../ui/time";

export function Empty() {
  if (!known.value) return <div class="card is-alone" aria-busy="true" />;
  return (
    <div class="card is-alone">
      <div class="calm">{past.value.length > 0 ? <Calm /> : <FirstRun />}</div>
    </div>
  );
}

function Calm() {
  const last = past.value[0]!;
  return (
    <>
      <h1>Nothing waits for you.</h1>
      <p>The next call that needs a decision appears here.</p>
      <p class="calm-news" role="status">
        <News />
      </p>
      <ul class="next">
        <li>
          <Icon name="wait" />
          <div>
            Last decision: <Foreign text={outcome(last)} />
            {last.decided && (
              <>
                , <Since at={last.decided.at} /> ago
              </>
            )}
            <small class="cut mono">
              <Foreign text={subjectOf(last)} />
            </small>
          </div>
          <button type="button" class="btn is-small" onClick={() => go("/history")}>
            History
          </button>
        </li>
        <li>
          <Icon name="plug" />
          <div>
            Put another agent behind the gate
            <Command text="gatelatch install claude" />
          </div>
        </li>
      </ul>
    </>
  );
}

function FirstRun() {
  return (
    <>
      <h1>Connect your first agent.</h1>
      <p>Gatelatch runs. It has no agent to stand in front of yet.</p>
      <ol class="steps">
        <li>
          <div>
            <b>Put an agent behind the gate</b>
            <Command text="gatelatch install claude" />
          </div>
        </li>
        <li>
          <div>
            <b>Start it and ask for something small</b>
            <p class="muted">For example: create an empty file named hello. A card appears here, and the agent waits.</p>
          </div>
        </li>
        <li>
          <div>
            <b>Decide</b>
            <p class="muted">Allow it once with A, or deny it with D. Nothing runs before you do.</p>
          </div>
        </li>
      </ol>
    </>
  );
}
