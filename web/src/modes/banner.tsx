import { useId } from "preact/hooks";
import { agentName, projectName } from "../session";
import { actorName, isYou, link } from "../state";
import { trouble } from "../ui/stop";
import { Foreign, plural } from "../ui/text";
import { clock, Left } from "../ui/time";
import { keyOf, setMode, unusual, type Chosen } from "./store";
import { bypass, shortName } from "./words";

/** Which sessions are in a mode that somebody chose. One is told whole where there is room, more are a list. */
export function ModeNotice({ alone }: { alone: boolean }) {
  const list = unusual.value;
  const id = useId();
  const first = list[0];
  if (!first) return null;
  const strong = first.mode.mode === bypass;
  const names = strong ? "notice modes is-strong" : "notice modes";
  if (list.length === 1 && alone) {
    return (
      <span class={names}>
        <span class="grow">
          <Says chosen={first} />
        </span>
        <Back chosen={first} />
      </span>
    );
  }
  return (
    <span class={names}>
      <span class="grow">
        <span class="cut">
          <b>{plural(list.length, "session")}</b> not in default
        </span>
        <span class="sub cut">
          {list.map((c, i) => (
            <span key={keyOf(c)}>
              {i > 0 && ", "}
              <Foreign text={projectName(c.session)} /> {shortName(c.mode.mode)}
            </span>
          ))}
        </span>
      </span>
      <button type="button" class="btn" data-act="modes" popovertarget={id}>
        Show
      </button>
      <div id={id} class="menu modes-menu" popover="auto" aria-label="Sessions not in default">
        <ul>
          {list.map((c) => (
            <li key={keyOf(c)}>
              <span class="grow">
                <Says chosen={c} />
                <code class="sub cut">
                  <Foreign text={c.session.id} />
                </code>
              </span>
              <Back chosen={c} />
            </li>
          ))}
        </ul>
      </div>
    </span>
  );
}

function Says({ chosen: { session, mode } }: { chosen: Chosen }) {
  const by = isYou(mode.by) ? "you" : actorName(mode.by);
  const whose = `${agentName(session)}, chosen by ${by}, until ${mode.until ? clock(mode.until) : "the session ends"}`;
  return (
    <>
      <span class="modes-what">
        <span class="cut" title={session.project}>
          <What session={projectName(session)} mode={mode.mode} />
        </span>
        {/* Ticking, so not for a reader that tells every change; the end stands below. */}
        {mode.until && (
          <span class="nowrap" aria-hidden="true">
            , <Left at={mode.until} /> left
          </span>
        )}
      </span>
      <span class="sub cut" title={whose}>
        <Foreign text={whose} />
      </span>
    </>
  );
}

function What({ session, mode }: { session: string; mode: string }) {
  const name = <Foreign text={session} />;
  switch (mode) {
    case bypass:
      return (
        <>
          <b>Bypass</b> in {name}
        </>
      );
    case "acceptEdits":
      return (
        <>
          <b>{name}</b> accepts edits
        </>
      );
    default:
      return (
        <>
          <b>{name}</b> is in <Foreign text={shortName(mode)} /> mode
        </>
      );
  }
}

function Back({ chosen }: { chosen: Chosen }) {
  const off = link.value !== "live";
  const press = async () => {
    if (!off) trouble.value = await setMode(chosen, "default");
  };
  return (
    <button type="button" class="btn" data-act="mode-default" aria-disabled={off ? "true" : undefined} onClick={() => void press()}>
      Back to default
    </button>
  );
}
