import type { ComponentChildren } from "preact";

interface ActProps {
  act: string;
  class: string;
  armed: boolean;
  off: boolean;
  keys?: string;
  title?: string;
  press: () => void;
  children: ComponentChildren;
}

/** A button that does nothing until it is armed. It stays focusable and keeps its size. */
export function Act({ act, class: names, armed, off, keys, title, press, children }: ActProps) {
  const ready = armed && !off;
  return (
    <button
      type="button"
      class={["btn", names, !armed && !off && "is-arming"].filter(Boolean).join(" ")}
      data-act={act}
      aria-disabled={ready ? undefined : "true"}
      aria-keyshortcuts={keys}
      title={title}
      onClick={() => ready && press()}
    >
      {children}
    </button>
  );
}
