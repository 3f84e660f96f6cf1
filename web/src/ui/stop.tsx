import { signal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import { ApiError, ask } from "../api";
import { link, status } from "../state";

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

  if (status.value?.paused) return <span class="btn is-stop is-stopped">Stopped</span>;
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
      title={lost ? "No connection to the gateway" : "Deny every call until you resume"}
      onClick={press}
      onBlur={() => setAsking(false)}
    >
      {asking ? "Stop now?" : "Stop all"}
    </button>
  );
}

export function resume(): Promise<void> {
  return change("Unpause");
}

async function change(to: "Pause" | "Unpause"): Promise<void> {
  trouble.value = "";
  try {
    status.value = await ask(to, { in: {} });
  } catch (err) {
    const why = err instanceof ApiError ? err.message : "the gateway does not answer";
    trouble.value = `${to === "Pause" ? "Not stopped" : "Not resumed"}: ${why}`;
  }
}
