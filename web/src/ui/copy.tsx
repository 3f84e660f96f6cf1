import { useEffect, useState } from "preact/hooks";

/** A command to run in a terminal. */
export function Command({ text }: { text: string }) {
  const [said, say] = useState("Copy");
  useEffect(() => {
    if (said === "Copy") return;
    const timer = setTimeout(() => say("Copy"), 2000);
    return () => clearTimeout(timer);
  }, [said]);
  const copy = () =>
    navigator.clipboard.writeText(text).then(
      () => say("Copied"),
      () => say("Select it"),
    );
  return (
    <div class="cmd">
      <span class="grow">{text}</span>
      <button type="button" class="btn is-small is-copy" onClick={copy} aria-live="polite">
        {said}
      </button>
    </div>
  );
}
