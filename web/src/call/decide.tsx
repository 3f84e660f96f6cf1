import type { Call } from "../api.gen";
import { moveOn } from "../queue/move";
import { nextWaiting, sameAs } from "../queue/store";
import { link, news } from "../state";
import { Icon } from "../ui/icon";
import { Foreign } from "../ui/text";
import { clock } from "../ui/time";
import { Act } from "./act";
import { allowMore } from "../modes/shortcuts";
import { t } from "../words/words";
import { AllBar } from "./all";
import { StepBar } from "./beside";
import { confirmed } from "./confirm";
import { decide, edit, outcome, report, sending } from "./decision";
import { graveOf } from "./effects";
import { inputOf, type Text } from "./input";
import { News } from "./news";
import { buttonOf, termsOf, type Draft } from "./remember";
import { SayWhy } from "./saywhy";

/** Which step of a decision the card is at. */
export type Step = "look" | "say" | "remember" | "edit" | "confirm" | "all";

export interface BarProps {
  call: Call;
  armed: boolean;
  questions: number;
  answers: Record<string, string>;
  choice: string;
  draft: Draft;
  text: Text;
  /** Whether all of it was seen. */
  seen: boolean;
  typed: string;
  ticked: ReadonlySet<string>;
  step: Step;
  go: (to: Step) => void;
}

/** The same buttons in the same places on every card. */
export function DecideBar(props: BarProps) {
  const off = link.value !== "live" || sending.value !== null;
  const back = () => props.go("look");
  switch (props.step) {
    case "say":
      return <SayWhy call={props.call} armed={props.armed} off={off} back={back} status={<Status {...props} />} />;
    case "remember":
      return <RememberBar {...props} off={off} />;
    case "edit":
      return <EditBar {...props} off={off} />;
    case "confirm":
      return <ConfirmBar {...props} off={off} />;
    case "all":
      return <AllBar call={props.call} ticked={props.ticked} armed={props.armed} go={back} />;
    default:
      return <LookBar {...props} off={off} />;
  }
}

type Bar = BarProps & { off: boolean };

function LookBar(props: Bar) {
  const { call, armed, off, answers, questions, choice, seen, go } = props;
  const words = t().call.decide;
  const { yes, no, say, short } = words.kinds[call.kind] ?? words.kinds["permission"]!;
  const more = call.kind === "permission";
  const grave = more && graveOf(call) !== null;
  const verb = { state: "allowed", ...(questions > 0 && { answers }), ...(call.kind === "plan" && { choice }) };
  return (
    <footer class={news.value ? "decide has-news" : "decide"} role="group" aria-label={words.decide}>
      <Act act="deny" class={grave ? "is-no is-main" : "is-no"} armed={armed} off={off} keys="d" press={() => void decide(call, { state: "denied" })}>
        {no} <kbd>D</kbd>
      </Act>
      <Act act="deny-say" class={more || call.kind === "plan" ? "is-quiet" : "is-quiet is-only"} armed={armed} off={off} keys="Shift+d" press={() => go("say")}>
        <span class="wide">{say}</span>
        <span class="narrow">{short}</span> <kbd>⇧D</kbd>
      </Act>
      <p class="decide-status" role="status">
        <Status {...props} />
      </p>
      {call.kind !== "question" && (
        <Act act="edit" class="is-quiet" armed={armed} off={off} keys="e" press={() => go("edit")}>
          <span class="wide">{words.edit}</span>
          <span class="narrow">{words.editShort}</span> <kbd>E</kbd>
        </Act>
      )}
      {more && (
        <Act act="remember" class="is-quiet" armed={armed} off={off || !seen} keys="Shift+a" press={() => go("remember")}>
          <span class="wide">{words.remember}</span>
          <span class="narrow">{words.rememberShort}</span> <kbd>⇧A</kbd>
        </Act>
      )}
      <Act
        act="allow"
        class={grave ? "is-yes" : "is-yes is-main"}
        armed={armed}
        off={off || !seen || Object.keys(answers).length < questions}
        keys="a"
        press={() => (grave ? go("confirm") : void decide(call, verb))}
      >
        {grave ? words.allowAsk : yes} <kbd>A</kbd>
      </Act>
    </footer>
  );
}

/** Allows, with what the fields say. */
export function allowAs(call: Call, draft: Draft, done: () => void): void {
  const terms = termsOf(draft);
  if (draft.mode !== "") void allowMore(call, draft).then((well) => well && done());
  else if (draft.scope === "") void decide(call, { state: "allowed" });
  else if (terms) void decide(call, { state: "allowed", remember: terms });
}

function RememberBar({ call, armed, off, draft, go }: Bar) {
  const { button, short } = buttonOf(draft);
  const ready = draft.mode !== "" || draft.scope === "" || termsOf(draft) !== null;
  const said = news.value ? <News /> : saidOf(draft);
  return (
    <StepBar back={() => go("look")} status={said}>
      <Act act="remember-send" class="is-yes is-main" armed={armed} off={off || !ready} keys="Control+Enter" press={() => allowAs(call, draft, () => go("look"))}>
        <span class="wide">{button}</span>
        <span class="narrow">{short}</span> <kbd>⌃⏎</kbd>
      </Act>
    </StepBar>
  );
}

function saidOf({ scope, mode }: Draft): string | null {
  const words = t().call.decide;
  if (mode !== "") return words.modeShown;
  return scope === "" ? null : words.listed;
}

function EditBar({ call, armed, off, text, go }: Bar) {
  const read = inputOf(call, text);
  const save = () => "input" in read && void edit(call, read.input);
  return (
    <StepBar back={() => go("look")} status={news.value ? <News /> : t().call.decide.ownDigest}>
      <Act act="edit-send" class="is-yes is-main" armed={armed} off={off || "wrong" in read || text.text === text.from} keys="Control+Enter" press={save}>
        <span class="wide">{t().call.decide.save}</span>
        <span class="narrow">{t().call.decide.saveShort}</span> <kbd>⌃⏎</kbd>
      </Act>
    </StepBar>
  );
}

function ConfirmBar({ call, armed, off, typed, go }: Bar) {
  const words = t().call.decide;
  return (
    <StepBar back={() => go("look")} status={news.value ? <News /> : null}>
      <Act act="confirm-send" class="is-yes" armed={armed} off={off || !confirmed(call, typed)} keys="Control+Enter" press={() => void decide(call, { state: "allowed" })}>
        {words.kinds["permission"]!.yes} <kbd>⌃⏎</kbd>
      </Act>
    </StepBar>
  );
}

function Status({ call, questions, answers, seen }: BarProps) {
  const words = t().call.decide;
  if (news.value) return <News />;
  if (sending.value === call.id) return <>{words.sending}</>;
  if (link.value === "lost") return <b class="is-close">{words.lost}</b>;
  if (!seen) return <b class="is-close">{t().call.gap.waits}</b>;
  if (questions > 0) return <>{words.answered(Object.keys(answers).length, questions)}</>;
  if (sameAs(call).length > 1) return <b data-same={sameAs(call).length}>{t().call.same(sameAs(call).length)}</b>;
  if (call.batch.size > 1) return <>{words.batch(call.batch.position, call.batch.size)}</>;
  return null;
}

/** Stands where the buttons were once nothing is left to decide. */
export function SettledBar({ call, readOnly }: { call: Call; readOnly: boolean }) {
  const note = call.decided?.note;
  const went = report(call);
  return (
    <footer class="decide is-settled has-news" role="group" aria-label={t().call.decide.decided}>
      <Icon name={call.state === "allowed" ? "yes" : call.state === "expired" ? "wait" : "no"} />
      <p class="decide-status" role="status">
        <b>
          <Foreign text={outcome(call)} />
        </b>
        {call.decided && <span class="muted">{t().call.decide.at(clock(call.decided.at))}</span>}
        {went && <span class="muted">, {went}</span>}
        {note && (
          <span class="note">
            “<Foreign text={note} />”
          </span>
        )}
        {!readOnly && <News />}
      </p>
      {!readOnly && (
        <button type="button" class="btn is-yes" onClick={() => moveOn(call.id)}>
          {nextWaiting(call.id) ? t().call.decide.next : t().call.decide.done}
        </button>
      )}
    </footer>
  );
}
