import { act, render } from "@testing-library/preact";
import { vi } from "vitest";
import { App } from "../src/app";
import { armTime } from "../src/call/arming";
import { setPast } from "../src/history/store";
import { put } from "../src/queue/store";
import { link } from "../src/state";
import type { Call } from "../src/api.gen";

/** Shows the page, connected, with these calls. */
export async function show(...calls: Call[]) {
  await act(() => {
    link.value = "live";
    setPast({ calls: calls.filter((c) => c.state !== "pending"), more: false, seq: 1 });
    calls.forEach(put);
  });
  const page = render(<App />);
  await pass();
  return page;
}

/** Lets time pass, and everything that waits for it happen. */
export async function pass(ms = 0): Promise<void> {
  await act(() => vi.advanceTimersByTimeAsync(ms).then(() => undefined));
}

export const arm = () => pass(armTime);

export function find<E extends HTMLElement = HTMLElement>(selector: string): E {
  const found = document.querySelector<E>(selector);
  if (!found) throw new Error(`nothing is ${selector}:\n${document.body.textContent}`);
  return found;
}

export const has = (selector: string) => document.querySelector(selector) !== null;

export const button = (name: string) => find<HTMLButtonElement>(`[data-act="${name}"]`);

export async function press(name: string): Promise<void> {
  button(name).click();
  await pass();
}

export async function key(name: string, target: EventTarget = document.body, more: KeyboardEventInit = {}): Promise<void> {
  target.dispatchEvent(new KeyboardEvent("keydown", { key: name, bubbles: true, cancelable: true, ...more }));
  await pass();
}

export const card = () => find("article.card");
export const newsText = () => find(".decide-status").textContent;
