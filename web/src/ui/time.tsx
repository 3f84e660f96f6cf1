import { now } from "../state";
import { t } from "../words/words";

/** How long, in one unit: "42 s", "3 min", "2 h", "4 d". */
export function span(ms: number): string {
  const s = Math.max(0, Math.floor(ms / 1000));
  const unit = t().ui.span;
  if (s < 60) return unit.s(s);
  if (s < 3600) return unit.min(Math.floor(s / 60));
  if (s < 86_400) return unit.h(Math.floor(s / 3600));
  return unit.d(Math.floor(s / 86_400));
}

/** Time since, ticking. It is a component so that only the number is drawn again. */
export function Since({ at }: { at: string }) {
  return <>{span(now.value - Date.parse(at))}</>;
}

export function Until({ at }: { at: string }) {
  return <>{span(Date.parse(at) - now.value)}</>;
}

/** What is left, to the second: "14:32", "3:59:08". */
export function Left({ at }: { at: string }) {
  const s = Math.max(0, Math.floor((Date.parse(at) - now.value) / 1000));
  const [hours, minutes] = [Math.floor(s / 3600), Math.floor(s / 60) % 60];
  return <>{`${hours > 0 ? `${hours}:${two(minutes)}` : minutes}:${two(s % 60)}`}</>;
}

const two = (n: number) => String(n).padStart(2, "0");

/** The time of day; before today the day, too, and before this year only that. */
export function clock(at: string): string {
  const d = new Date(at);
  const today = new Date(now.peek());
  const time = `${two(d.getHours())}:${two(d.getMinutes())}`;
  if (d.toDateString() === today.toDateString()) return `${time}:${two(d.getSeconds())}`;
  const day = t().ui.day(d.getDate(), d.getMonth());
  return d.getFullYear() === today.getFullYear() ? `${day} ${time}` : t().ui.dayYear(day, d.getFullYear());
}
