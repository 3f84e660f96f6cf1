import { outcome } from "../call/decision";
import { News } from "../call/news";
import { known, past } from "../history/store";
import { go, subjectOf } from "../state";
import { Command } from "../ui/copy";
import { Icon } from "../ui/icon";
import { beginning, Foreign } from "../ui/text";
import { Since } from "../ui/time";
import { Fill } from "../words/fill";
import { t } from "../words/words";

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
  const { queue, ui } = t();
  return (
    <>
      <h1>{queue.calm}</h1>
      <p>{queue.calmNext}</p>
      <p class="calm-news" role="status">
        <News />
      </p>
      <ul class="next">
        <li>
          <Icon name="wait" />
          <div>
            <Fill text={queue.last} gaps={{ outcome: <Foreign text={outcome(last)} /> }} />
            {last.decided && <Fill text={queue.ago} gaps={{ time: <Since at={last.decided.at} /> }} />}
            <small class="cut mono">
              <Foreign text={beginning(subjectOf(last))} />
            </small>
          </div>
          <button type="button" class="btn is-small" onClick={() => go("/history")}>
            {ui.tabs.history}
          </button>
        </li>
        <li>
          <Icon name="chart" />
          <div>{queue.fewer}</div>
          <button type="button" class="btn is-small" onClick={() => go("/insight")}>
            {ui.tabs.insight}
          </button>
        </li>
        <li>
          <Icon name="plug" />
          <div>
            {queue.another}
            <Command text="gatelatch install claude" />
          </div>
        </li>
      </ul>
    </>
  );
}

function FirstRun() {
  const { queue } = t();
  return (
    <>
      <h1>{queue.first}</h1>
      <p>{queue.firstSays}</p>
      <ol class="steps">
        <li>
          <div>
            <b>{queue.step1}</b>
            <Command text="gatelatch install claude" />
          </div>
        </li>
        <li>
          <div>
            <b>{queue.step2}</b>
            <p class="muted">{queue.step2Says}</p>
          </div>
        </li>
        <li>
          <div>
            <b>{queue.step3}</b>
            <p class="muted">{queue.step3Says}</p>
          </div>
        </li>
      </ol>
    </>
  );
}
