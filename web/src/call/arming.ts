import type { RefObject } from "preact";
import { useLayoutEffect, useState } from "preact/hooks";

export const armTime = 500;

/**
 * Whether what the key names has been in view, and still, for long enough to be
 * decided on. A key pressed or a click aimed at what was there before does
 * nothing. Disarms when the key changes, when the card moves or changes its
 * size, and when the person comes back to the page.
 */
export function useArming(key: string, card: RefObject<HTMLElement | null>): boolean {
  // Armed is a key, not a flag: a flag would hold for one frame of the next card.
  const [armed, setArmed] = useState<string | null>(null);

  useLayoutEffect(() => {
    let timer: ReturnType<typeof setTimeout>;
    const restart = () => {
      clearTimeout(timer);
      setArmed(null);
      timer = setTimeout(() => setArmed(key), armTime);
    };
    restart();
    const sizes = new ResizeObserver(restart);
    const element = card.current;
    if (element) for (const e of [element, ...element.querySelectorAll(".card-body")]) sizes.observe(e);
    const shown = () => document.visibilityState === "visible" && restart();
    document.addEventListener("visibilitychange", shown);
    window.addEventListener("focus", restart);
    return () => {
      clearTimeout(timer);
      sizes.disconnect();
      document.removeEventListener("visibilitychange", shown);
      window.removeEventListener("focus", restart);
    };
  }, [key]);

  return armed === key;
}
