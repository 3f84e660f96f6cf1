import { useId } from "preact/hooks";
import { agentName, projectName } from "../session";
import { actorName, isYou, link } from "../state";
import { trouble } from "../ui/stop";
import { Foreign } from "../ui/text";
import { clock, Left } from "../ui/time";
import { Fill } from "../words/fill";
import { t } from "../words/words";
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
          <Fill text={t().modes.notDefault} gaps={{ sessions: <b>{t().modes.sessions(list.length)}</b> }} />
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
        {t().modes.show}
      </button>
      <div id={id} class="menu modes-menu" popover="auto" aria-label={t().modes.sessionsNotDefault}>
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
  const by = isYou(mode.by) ? t().ui.you : actorName(mode.by);
  const whose = t().modes.chosen(agentName(session), by, mode.until ? clock(mode.until) : t().modes.sessionEnds);
  return (
    <>
      <span class="modes-what">
        <span class="cut" title={session.project}>
          <What session={projectName(session)} mode={mode.mode} />
        </span>
        {/* Ticking, so not for a reader that tells every change; the end stands below. */}
        {mode.until && (
          <span class="nowrap" aria-hidden="true">
            <Fill text={t().modes.left} gaps={{ time: <Left at={mode.until} /> }} />
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
      return <Fill text={t().modes.bypassIn} gaps={{ bypass: <b>{t().modes.bypass}</b>, project: name }} />;
    case "acceptEdits":
      return <Fill text={t().modes.acceptsEdits} gaps={{ project: <b>{name}</b> }} />;
    default:
      return <Fill text={t().modes.isIn} gaps={{ project: <b>{name}</b>, mode: <Foreign text={shortName(mode)} /> }} />;
  }
}

function Back({ chosen }: { chosen: Chosen }) {
  const off = link.value !== "live";
  const press = async () => {
    if (!off) trouble.value = await setMode(chosen, "default");
  };
  return (
    <button type="button" class="btn" data-act="mode-default" aria-disabled={off ? "true" : undefined} onClick={() => void press()}>
      {t().modes.back}
    </button>
  );
}
