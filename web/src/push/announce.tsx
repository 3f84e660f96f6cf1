import { effect, signal } from "@preact/signals";
import { arrived, waiting } from "../queue/store";
import { projectName } from "../session";
import { t } from "../words/words";
import { ring, sound } from "./store";

const said = signal("");
/** Calls that come together are told together. */
const gather = 700;

/** Tells who listens about new calls; who looks sees them. */
export function Announce() {
  return (
    <div class="hide" role="status" aria-live="polite" data-announce>
      {said.value}
    </div>
  );
}

export function watchArrivals(): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let count = 0;
  return effect(() => {
    const [call] = arrived.value;
    if (!call) return;
    count++;
    timer ??= setTimeout(() => {
      const { queue: w } = t();
      said.value = count === 1 ? w.arrived(call.card.says, projectName(call.session), waiting.peek()) : w.manyArrived(count, waiting.peek());
      if (sound.peek()) ring();
      timer = undefined;
      count = 0;
    }, gather);
  });
}

const icon = (n: string) =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="#0b5b6d"/><text x="16" y="${n.length > 2 ? 21 : 23}" font-family="sans-serif" font-weight="700" font-size="${n.length > 2 ? 14 : 19}" text-anchor="middle" fill="#fff">${n}</text></svg>`;

/** The count is on the tab's icon too, for who has many tabs. */
export function watchIcon(): () => void {
  return effect(() => {
    const n = waiting.value;
    const link = document.querySelector<HTMLLinkElement>('link[rel="icon"]');
    if (link) link.href = n === 0 ? "/icon.svg" : `data:image/svg+xml,${encodeURIComponent(icon(n > 99 ? "99+" : String(n)))}`;
  });
}
