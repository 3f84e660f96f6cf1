import { signal } from "@preact/signals";

export const languages = { en: "English", zh: "简体中文" };
export type Language = keyof typeof languages;

/** The language of the page. */
export const language = signal<Language>("en");

/** A number as the language writes it. */
export function number(n: number): string {
  return n.toLocaleString(language.value);
}

/** English counts: "1 call", "3 calls". */
export function plural(n: number, one: string, many = one + "s"): string {
  return `${number(n)} ${n === 1 ? one : many}`;
}
