import type { Call } from "../api.gen";
import { moveOn } from "../queue/move";
import { nextWaiting } from "../queue/store";
import { link, news } from "../state";
import { Icon } from "../ui/icon";
import { Foreign } from "../ui/text";
import { clock } from "../ui/time";
import { Act } from "./act";
import { allowMore } from "../modes/shortcuts";
import { StepBar } from "./beside";
import { decide, edit, outcome, report, sending } from "./decision";
import { inputOf, type Text } from "./input";
import { News } from "./news";
import { buttonOf, termsOf, type Draft } from "./remember";
import { SayWhy } from "./saywhy";

/** Which step of a decision the card is at. */
export type Step = "look" | "say" | "remember" | "edit";

export interface BarProps {
  call: Call;
  armed: boolean;
  questions: number;
  answers: Record<string, string>;
  choice: string;
  draft: Draft;
  text: Text;
  step: Step;
  go: (to: Step) => void;
}

const words: Record<string, { yes: string; no: string; say: string; short: string }> = {
  permission: { yes: "Allow once", no: "Deny", say: "Deny or reply…", short: "Reply…" },
  question: { yes: "Send answers", no: "Do not answer", say: "Decline and say why…", short: "Decline, say why…" },
  plan: { yes: "Approve", no: "Keep planning", say: "Say what to change…", short: "Say what to change…" },
};

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
    default:
      return <LookBar {...props} off={off} />;
  }
}

type Bar = BarProps & { off: boolean };

function LookBar(props: Bar) {
  const { call, armed, off, answers, questions, choice, go } = props;
  const { yes, no, say, short } = words[call.kind] ?? words["permission"]!;
  const more = call.kind === "permission";
  const verb = { state: "allowed", ...(questions > 0 && { answers }), ...(call.kind === "plan" && { choice }) };
  return (
    <footer class={news.value ? "decide has-news" : "decide"} role="group" aria-label="Decide">
      <Act act="deny" class="is-no" armed={armed} off={off} keys="d" press={() => void decide(call, { state: "denied" })}>
        {no} <kbd>D</kbd>
      </Act>
      <Act act="deny-say" class={more ? "is-quiet" : "is-quiet is-only"} armed={armed} off={off} keys="Shift+d" press={() => go("say")}>
        <span class="wide">{say}</span>
        <span class="narrow">{short}</span> <kbd>⇧D</kbd>
      </Act>
      <p class="decide-status" role="status">
        <Status {...props} />
      </p>
      {more && (
        <>
          <Act act="edit" class="is-quiet" armed={armed} off={off} keys="e" press={() => go("edit")}>
            <span class="wide">Edit first…</span>
            <span class="narrow">Edit…</span> <kbd>E</kbd>
          </Act>
          <Act act="remember" class="is-quiet" armed={armed} off={off} keys="Shift+a" press={() => go("remember")}>
            <span class="wide">Allow and remember…</span>
            <span class="narrow">Remember…</span> <kbd>⇧A</kbd>
          </Act>
        </>
      )}
      <Act
        act="allow"
        class="is-yes is-main"
        armed={armed}
        off={off || Object.keys(answers).length < questions}
        keys="a"
        press={() => void decide(call, verb)}
      >
        {yes} <kbd>A</kbd>
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
  if (mode !== "") return "Shown at the top while it holds. You can go back to default at any time.";
  return scope === "" ? null : "Listed under Remembered. You can revoke it at any time.";
}

function EditBar({ call, armed, off, text, go }: Bar) {
  const read = inputOf(call, text);
  const save = () => "input" in read && void edit(call, read.input);
  return (
    <StepBar back={() => go("look")} status={news.value ? <News /> : "Your text gets its own digest. You see it again before you allow it."}>
      <Act act="edit-send" class="is-yes is-main" armed={armed} off={off || "wrong" in read || text.text === text.from} keys="Control+Enter" press={save}>
        <span class="wide">Save and look at it</span>
        <span class="narrow">Save and look</span> <kbd>⌃⏎</kbd>
      </Act>
    </StepBar>
  );
}

function Status({ call, questions, answers }: BarProps) {
  if (news.value) return <News />;
  if (sending.value === call.id) return <>Sending…</>;
  if (link.value === "lost") return <>No connection. Decisions are off.</>;
  if (questions > 0) {
    return (
      <>
        {Object.keys(answers).length} of {questions} answered
      </>
    );
  }
  if (call.batch.size > 1) {
    return (
      <>
        Decides call {call.batch.position} of {call.batch.size}. Nothing runs until all are settled.
      </>
    );
  }
  return null;
}

/** Stands where the buttons were once nothing is left to decide. */
export function SettledBar({ call, readOnly }: { call: Call; readOnly: boolean }) {
  const note = call.decided?.note;
  const went = report(call);
  return (
    <footer class="decide is-settled has-news" role="group" aria-label="Decided">
      <Icon name={call.state === "allowed" ? "yes" : call.state === "expired" ? "wait" : "no"} />
      <p class="decide-status" role="status">
        <b>
          <Foreign text={outcome(call)} />
        </b>
        {call.decided && <span class="muted"> at {clock(call.decided.at)}</span>}
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
          {nextWaiting(call.id) ? "Next call" : "Done"}
        </button>
      )}
    </footer>
  );
}
