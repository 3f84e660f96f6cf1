import { useEffect, useState } from "preact/hooks";
import { t } from "../words/words";

/** A command to run in a terminal. */
export function Command({ text }: { text: string }) {
  const [said, say] = useState<"copy" | "copied" | "select">("copy");
  useEffect(() => {
    if (said === "copy") return;
    const timer = setTimeout(() => say("copy"), 2000);
    return () => clearTimeout(timer);
  }, [said]);
  const copy = () =>
    navigator.clipboard.writeText(text).then(
      () => say("copied"),
      () => say("select"),
    );
  return (
    <div class="cmd">
      <span class="grow">{text}</span>
      <button type="button" class="btn is-small is-copy" onClick={copy} aria-live="polite">
        {t().ui.copy[said]}
      </button>
    </div>
  );
}
