import { signal } from "@preact/signals";
import { ask, loggedIn } from "../api";
import { status } from "../state";
import { Icon } from "../ui/icon";
import { t } from "../words/words";
import { pushState } from "./store";

const key = "gatelatch.silent";
const dismissed = signal(localStorage.getItem(key) === "ok");

/** Says that nobody hears of a call who does not look, until somebody turns it off. */
export function Silent() {
  const { push: w } = t();
  if (!status.value?.silent || pushState.value === "on" || dismissed.value) return null;
  const dismiss = () => {
    dismissed.value = true;
    localStorage.setItem(key, "ok");
  };
  return (
    <span class="notice is-quiet" data-silent>
      <span class="grow">{w.silent}</span>
      <button type="button" class="btn" popovertarget="bell">
        {w.silentFix}
      </button>
      <button type="button" class="btn" data-act="dismiss-silent" aria-label={w.dismiss} title={w.dismiss} onClick={dismiss}>
        <Icon name="no" />
      </button>
    </span>
  );
}

const often = 20_000;

/** Tells the gateway that somebody looks, if it wants to know. */
export function watchLook(): () => void {
  const look = () => {
    if (status.peek()?.look && loggedIn.peek() && document.visibilityState === "visible" && document.hasFocus()) void ask("Look", { in: {} }).catch(() => undefined);
  };
  const timer = setInterval(look, often);
  addEventListener("focus", look);
  return () => {
    clearInterval(timer);
    removeEventListener("focus", look);
  };
}
