import { expect, it } from "vitest";

const sources = import.meta.glob<string>("../src/**/*.{ts,tsx}", { query: "?raw", import: "default", eager: true });
const pages = import.meta.glob<string>("../index.html", { query: "?raw", import: "default", eager: true });

/** What an agent wrote is on this page: it must stay text, and the page's CSP must never be in the way. */
const forbidden: [string, RegExp][] = [
  ["markup from text", /innerHTML|outerHTML|insertAdjacentHTML|document\.write|createContextualFragment|DOMParser|srcdoc/],
  ["code from text", /\beval\(|new Function|javascript:/],
  ["inline style, which the CSP refuses", /\bstyle=|\.style\b|cssText/],
];

it.each(forbidden)("has no %s", (_, pattern) => {
  expect(Object.keys(sources).length).toBeGreaterThan(20);
  for (const [name, text] of Object.entries(sources)) {
    const lines = text.split("\n").filter((line) => pattern.test(line));
    expect(lines, name).toEqual([]);
  }
});

it("has no inline script, style or handler in its HTML", () => {
  for (const text of Object.values(pages)) expect(text).not.toMatch(/<script(?![^>]* src=)|<style|\son\w+=|\sstyle=/);
});
