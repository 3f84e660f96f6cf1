import type { Call } from "../api.gen";
import { moveOn } from "../queue/move";
import { nextWaiting } from "../queue/store";
import { link, news } from "../state";
import { Icon } from "../ui/icon";
import { Foreign } from "../ui/text";
import { clock } from "../ui/time";
import { Act } from "./act";
import { decide, outcome, sending } from "./decision";
import { News } from "./news";
import { SayWhy } from "./saywhy";

export interface BarProps {
  call: Call;
  armed: boolean;
  questions: number;
  answers: Record<string, string>;
  saying: boolean;
  say: (on: boolean) => void;
}

const words: Record<string, { yes: string; no: string; short: string }> = {
  permission: { yes: "Allow once", no: "Deny", short: "Deny" },
  question: { yes: "Send answers", no: "Do not answer", short: "Decline" },
  plan: { yes: "Approve", no: "Keep planning", short: "Deny" },
};

/** The same buttons in the same places on every card. */
export function DecideBar(props: BarProps) {
  const { call, armed, answers, questions, saying, say } = props;
  const { yes, no, short } = words[call.kind] ?? words["permission"]!;
  const off = link.value !== "live" || sending.value !== null;
  const answered = Object.keys(answers).length;
  if (saying) return <SayWhy call={call} armed={armed} off={off} back={() => say(false)} status={<Status {...props} />} />;
  const allow = () => void decide(call, questions > 0 ? { state: "allowed", answers } : { state: "allowed" });
  return (
    <footer class={news.value ? "decide has-news" : "decide"} role="group" aria-label="Decide">
      <Act act="deny" class="is-no" armed={armed} off={off} keys="d" press={() => void decide(call, { state: "denied" })}>
        {no} <kbd>D</kbd>
      </Act>
      <Act act="deny-say" class="is-quiet is-only" armed={armed} off={off} keys="Shift+d" press={() => say(true)}>
        <span class="wide">{short} and say why…</span>
        <span class="narrow">{short}, say why…</span> <kbd>⇧D</kbd>
      </Act>
      <p class="decide-status" role="status">
        <Status {...props} />
      </p>
      <Act act="allow" class="is-yes is-main" armed={armed} off={off || answered < questions} keys="a" press={allow}>
        {yes} <kbd>A</kbd>
      </Act>
    </footer>
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
  return (
    <footer class="decide is-settled has-news" role="group" aria-label="Decided">
      <Icon name={call.state === "allowed" ? "yes" : call.state === "expired" ? "wait" : "no"} />
      <p class="decide-status" role="status">
        <b>
          <Foreign text={outcome(call)} />
        </b>
        {call.decided && <span class="muted"> at {clock(call.decided.at)}</span>}
        {call.outcome && <span class="muted">, the agent reported {call.outcome.ok ? "success" : "a failure"}</span>}
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
