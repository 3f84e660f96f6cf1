import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";
import { t } from "../words/words";

interface Props {
  title: string;
  /** The call, which stays in sight. */
  call: ComponentChildren;
  send: () => void;
  children: ComponentChildren;
}

/** A second step. It stands beside the call; on a narrow screen below it. */
export function Beside({ title, call, send, children }: Props) {
  const step = useRef<HTMLElement>(null);
  useEffect(() => {
    const here = step.current!;
    here.querySelector<HTMLElement>("input:checked, input[type=text], textarea")?.focus({ preventScroll: true });
    // Only the card scrolls, and the end of the call stays in sight above the step.
    const card = here.closest(".card");
    card?.scrollBy(0, here.getBoundingClientRect().top - card.getBoundingClientRect().top - 120);
  }, []);
  return (
    <div class="beside">
      <section aria-label={t().call.theCall}>{call}</section>
      <section class="step" ref={step} aria-labelledby="step" onKeyDown={onSend(send)}>
        <h3 class="big" id="step">
          {title}
        </h3>
        {children}
      </section>
    </div>
  );
}

interface StepBarProps {
  back: () => void;
  status: ComponentChildren;
  children: ComponentChildren;
}

/** Back on the left; on the right one button that says what it will do. */
export function StepBar({ back, status, children }: StepBarProps) {
  return (
    <footer class="decide is-step" role="group" aria-label={t().call.decide.decide}>
      <button type="button" class="btn is-no" data-act="back" onClick={back}>
        {t().call.decide.back} <kbd>Esc</kbd>
      </button>
      <p class="decide-status" role="status">
        {status}
      </p>
      {children}
    </footer>
  );
}

/** Control and Enter, or Command and Enter, in a field of a second step. */
export function onSend(send: () => void) {
  return (event: KeyboardEvent) => {
    if (event.key !== "Enter" || !(event.metaKey || event.ctrlKey)) return;
    event.preventDefault();
    send();
  };
}
