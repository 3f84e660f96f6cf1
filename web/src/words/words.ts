// What the page says, in the language of the person. All English is in *.en.ts,
// a file for each part of the page; another language has the same shape.

import { effect, signal } from "@preact/signals";
import { en } from "./en";
import { language, languages, type Language } from "./language";

/** A language has to have every word: the compiler compares the shapes. */
export type Words = typeof en;

const kept = "gatelatch.language";

const words = signal<Words>(en);

/** The words of the page. What draws them draws again when the language changes. */
export function t(): Words {
  return words.value;
}

/** Another language than English is loaded when it is wanted. If that fails, English stays. */
export async function speak(to: Language): Promise<void> {
  words.value = to === "zh" ? (await import("./zh")).zh : en;
  language.value = to;
}

/** Speaks another language from now on, in this browser. */
export async function choose(to: Language): Promise<void> {
  await speak(to);
  localStorage.setItem(kept, to);
}

/** The language that was chosen here, else the first of the browser's that we have. */
export function wanted(browser: readonly string[] = navigator.languages): Language {
  const all = [localStorage.getItem(kept) ?? "", ...browser].map((l) => l.toLowerCase().split("-")[0]);
  return all.find((l): l is Language => l !== undefined && Object.hasOwn(languages, l)) ?? "en";
}

export async function startWords(): Promise<void> {
  effect(() => {
    document.documentElement.lang = language.value === "zh" ? "zh-Hans" : language.value;
  });
  await speak(wanted()).catch(() => undefined);
}
