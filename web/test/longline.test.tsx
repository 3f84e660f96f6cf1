import { render } from "@testing-library/preact";
import { expect, it, vi } from "vitest";
import type { Block } from "../src/api.gen";
import { changedWords } from "../src/call/changed";
import { Diff } from "../src/call/diff";
import { lineMost } from "../src/call/long";
import { aCall } from "./calls";
import { arm, button, find, pass, press, show } from "./page";

const name = "⟨U+202E⟩";
const line = (name + "😀" + "x".repeat(97)).repeat(3_000);
const withBlock = (block: Block) => aCall({ card: { ...aCall().card, blocks: [block] } });
const offAllow = () => button("allow").getAttribute("aria-disabled") === "true";

async function showAll() {
  for (let i = 0; i < 100 && !document.querySelector(".gap-end"); i++) await pass(10);
  await pass();
}

it("draws a very long line in parts, with nothing lost and no name cut, and says that it goes on", async () => {
  await show(withBlock({ kind: "content", title: "a", segments: [{ text: line, asked: true }] }));
  await arm();
  expect(find(".content pre").textContent!.length).toBeLessThan(6_000);
  expect(find("[data-gap]").textContent).toContain("characters between");
  expect(offAllow()).toBe(true);
  await press("show-all");
  await showAll();
  const boxes = [...document.querySelectorAll(".is-part")];
  expect(boxes.length).toBeGreaterThan(8);
  for (const box of boxes) {
    expect(box.textContent!.length).toBeLessThan(40_000);
    expect(box.querySelector(".goes-on")).not.toBeNull();
  }
  document.querySelectorAll(".goes-on, .gap-end").forEach((e) => e.remove());
  expect(find(".content pre").textContent).toBe(line);
  expect([...document.querySelectorAll(".esc")].every((e) => e.textContent === name)).toBe(true);
});

it("cuts a long line of a diff by itself, and waits for it", async () => {
  vi.stubGlobal("IntersectionObserver", undefined); // opening it has to do
  const text = "x".repeat(40_000);
  await show(withBlock({ kind: "diff", note: "file", lines: [{ op: " ", text }, { op: "-", text: "const a = 1;" }, { op: "+", text: text + "y" }] }));
  await arm();
  expect(document.querySelectorAll('[data-gap="0:2"]')).toHaveLength(1);
  expect(find(".diff").textContent!.length).toBeLessThan(20_000);
  expect(offAllow()).toBe(true);
  find<HTMLElement>('[data-gap="0:2"] [data-act="show-all"]').click();
  await showAll();
  await arm();
  expect(offAllow()).toBe(false); // the line that stays is in the file already
  expect(find(".diff").textContent).toContain("y");
});

it("marks what changed within a long line", () => {
  const [a, b] = ["a".repeat(30_000), "b".repeat(30_000)];
  const pair = (x: string, y: string) => [...changedWords([{ op: "-", text: x }, { op: "+", text: y }]).values()];
  expect(pair(a + "1" + b, a + "2" + b).map((w) => w.changed)).toEqual(["1", "2"]);
  expect(pair(a + "⟨U+202E⟩" + b, a + "⟨U+202D⟩" + b).map((w) => w.changed)).toEqual(["⟨U+202E⟩", "⟨U+202D⟩"]);
  expect(pair(a + "😀" + b, a + "😁" + b).map((w) => w.changed)).toEqual(["😀", "😁"]);
  for (const w of pair(a, a + a)) expect(w.before.length + w.after.length).toBe(a.length);
});

it("marks the change in a line that is cut, once it is shown", async () => {
  const a = "a;".repeat(lineMost / 2);
  render(<Diff piece="0" block={{ kind: "diff", note: "file", lines: [{ op: "-", text: `${a}1;${a}` }, { op: "+", text: `${a}2;${a}` }] }} />);
  expect(document.querySelector("ins")).toBeNull();
  for (const b of document.querySelectorAll<HTMLElement>('[data-act="show-all"]')) b.click();
  await showAll();
  expect([...document.querySelectorAll("del, ins")].map((e) => e.textContent)).toEqual(["1", "2"]);
});
