import { useEffect, useId, useRef, useState } from "preact/hooks";
import { Act } from "../call/act";
import { useArming } from "../call/arming";
import { onSend } from "../call/beside";
import { actorName, isYou, link } from "../state";
import { projectName } from "../session";
import { Icon } from "../ui/icon";
import { Foreign } from "../ui/text";
import { clock } from "../ui/time";
import { Fill } from "../words/fill";
import { t } from "../words/words";
import { Interrupt } from "./interrupt";
import { chosenFor, modeOf, rulesFor, setMode, type Of } from "./store";
import { Times } from "./times";
import { bypass, modes, shortest, shortName, timeName } from "./words";

/** The mode of a session, where anything but default is worth a look. */
export function ModeChip({ of }: { of: Of }) {
  const mode = modeOf(of);
  if (mode === "default") return null;
  return (
    <span class="chip is-close">
      <Foreign text={shortName(mode)} />
    </span>
  );
}

/** Tells the mode of a session; behind it is the choice of another. */
export function ModeControl({ of }: { of: Of }) {
  const [open, setOpen] = useState(false);
  const button = useRef<HTMLButtonElement>(null);
  const mode = modeOf(of);
  const close = () => {
    setOpen(false);
    button.current?.focus({ preventScroll: true });
  };
  return (
    <>
      <button
        ref={button}
        type="button"
        class={mode === "default" ? "chip mode" : "chip mode is-close"}
        data-act="mode"
        aria-expanded={open}
        aria-keyshortcuts="m"
        title={t().modes.title}
        onClick={() => setOpen(!open)}
      >
        <span class="hide">{t().modes.modeIs}</span>
        <Foreign text={shortName(mode)} />
        <Icon name="down" />
      </button>
      {open && <Panel of={of} close={close} button={button} />}
    </>
  );
}

interface PanelProps {
  of: Of;
  close: () => void;
  button: { current: HTMLElement | null };
}

function Panel({ of, close, button }: PanelProps) {
  const panel = useRef<HTMLElement>(null);
  const id = useId();
  const known = chosenFor(of);
  const [mode, choose] = useState(known?.mode ?? rulesFor(of)?.mode ?? "default");
  const [seconds, setSeconds] = useState(shortest);
  const [wrong, setWrong] = useState("");
  const [busy, setBusy] = useState(false);
  const armed = useArming(JSON.stringify([mode, seconds]), panel);
  useEffect(() => {
    panel.current!.querySelector<HTMLElement>("input:checked")?.focus({ preventScroll: true });
    panel.current!.scrollIntoView({ block: "nearest" });
    const outside = ({ target }: Event) => {
      const inside = [panel.current, button.current].some((e) => target instanceof Node && e?.contains(target));
      if (!inside) close();
    };
    document.addEventListener("pointerdown", outside);
    return () => document.removeEventListener("pointerdown", outside);
  }, []);

  const off = busy || link.value !== "live" || (mode === known?.mode && mode !== bypass);
  const send = async () => {
    setBusy(true);
    const why = await setMode(of, mode, mode === bypass ? seconds : 0);
    done(why);
  };
  const done = (why: string) => {
    setBusy(false);
    setWrong(why);
    if (why === "") close();
  };
  // A letter here is none of the card's keys; the way out is.
  const keys = (event: KeyboardEvent) => {
    onSend(() => armed && !off && void send())(event);
    if (event.key !== "Escape") event.stopPropagation();
  };
  return (
    <section ref={panel} class="mode-panel" aria-labelledby={id} onKeyDown={keys}>
      <h3 id={id} class="cut">
        <Fill text={t().modes.of} gaps={{ project: <Foreign text={projectName(of.session)} /> }} />
      </h3>
      <p class="hint">
        <Now of={of} />
      </p>
      <fieldset>
        <legend class="hide">{t().modes.mode}</legend>
        <div class="choices">
          {modes.map((value) => (
            <label key={value} class="choice">
              <input type="radio" name={`mode ${id}`} value={value} checked={mode === value} onChange={() => choose(value)} />
              <b>{t().modes.names[value].name}</b>
              <small>{t().modes.names[value].says}</small>
            </label>
          ))}
        </div>
      </fieldset>
      <Times name={`time ${id}`} seconds={seconds} choose={setSeconds} off={mode !== bypass} />
      <p class={wrong ? "hint is-wrong" : "hint"} role="status">
        <Foreign text={wrong || t().modes.judgedAgain} />
      </p>
      <div class="line">
        <button type="button" class="btn" data-act="mode-close" onClick={close}>
          {t().modes.cancel} <kbd>Esc</kbd>
        </button>
        <Act act="mode-send" class="is-main" armed={armed} off={off} keys="Control+Enter" press={() => void send()}>
          {does(mode, seconds)}
        </Act>
      </div>
      <Interrupt of={of} armed={armed} off={busy || link.value !== "live"} done={done} />
    </section>
  );
}

function does(mode: string, seconds: number): string {
  switch (mode) {
    case bypass:
      return t().modes.does.bypass(timeName(seconds));
    case "acceptEdits":
      return t().modes.does.acceptEdits;
    default:
      return t().modes.does.other(shortName(mode));
  }
}

function Now({ of }: { of: Of }) {
  const [known, rules] = [chosenFor(of), rulesFor(of)];
  if (of.session.mode === "plan") return <>{t().modes.agentPlans}</>;
  if (!known && rules) {
    return (
      <Fill
        text={t().modes.nobodyFrom}
        gaps={{
          mode: shortName(rules.mode),
          source: (
            <code>
              <Foreign text={rules.source} />
            </code>
          ),
        }}
      />
    );
  }
  if (!known) return <Fill text={t().modes.nobody} gaps={{ mode: shortName("default") }} />;
  return (
    <Fill
      text={t().modes.now}
      gaps={{
        mode: shortName(known.mode),
        who: isYou(known.by) ? t().ui.you : <Foreign text={actorName(known.by)} />,
        end: known.until ? clock(known.until) : t().modes.sessionEnds,
      }}
    />
  );
}
