import { signal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import { ApiError, ask } from "../api";
import { link, status } from "../state";
import { t } from "../words/words";

/** Why the last click here did nothing; said in the bar, on every tab. */
export const trouble = signal("");

/** Denies everything from now on. The second click in the same place confirms. */
export function StopAll() {
  const [asking, setAsking] = useState(false);
  useEffect(() => {
    if (!asking) return;
    const timer = setTimeout(() => setAsking(false), 4000);
    return () => clearTimeout(timer);
  }, [asking]);

  if (status.value?.paused) return <span class="btn is-stop is-stopped">{t().ui.stop.stopped}</span>;
  const lost = link.value === "lost";
  const press = () => {
    if (lost) return;
    if (asking) void change("Pause");
    setAsking(!asking);
  };
  return (
    <button
      type="button"
      class={asking ? "btn is-stop is-main" : "btn is-stop"}
      data-act={asking ? "pause-confirm" : "pause"}
      aria-disabled={lost ? "true" : undefined}
      title={lost ? t().ui.stop.lost : t().ui.stop.title}
      onClick={press}
      onBlur={() => setAsking(false)}
    >
      {asking ? t().ui.stop.now : t().ui.stop.all}
    </button>
  );
}

export function resume(): Promise<void> {
  return change("Unpause");
}

/** Lets an agent ask again that asked too much. */
export async function unmute(id: string): Promise<void> {
  trouble.value = "";
  try {
    status.value = await ask("Unmute", { params: { id }, in: {} });
  } catch (err) {
    trouble.value = t().ui.stop.notResumed(err instanceof ApiError ? err.message : t().ui.noAnswer);
  }
}

async function change(to: "Pause" | "Unpause"): Promise<void> {
  trouble.value = "";
  try {
    status.value = await ask(to, { in: {} });
  } catch (err) {
    const why = err instanceof ApiError ? err.message : t().ui.noAnswer;
    trouble.value = to === "Pause" ? t().ui.stop.notStopped(why) : t().ui.stop.notResumed(why);
  }
}
