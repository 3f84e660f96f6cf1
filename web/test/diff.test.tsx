import { render } from "@testing-library/preact";
import { beforeEach, describe, expect, it } from "vitest";
import type { Line } from "../src/api.gen";
import { changedWords } from "../src/call/changed";
import { Diff } from "../src/call/diff";

const lines: Line[] = [
  { op: " ", old: 1, new: 1, text: "import x" },
  { op: "-", old: 2, text: "const MAX = 5;" },
  { op: "+", new: 2, text: "const MAX = 4;" },
  { op: "+", new: 3, text: "" },
];

function rows() {
  return [...document.querySelectorAll("tbody tr")].map((tr) => {
    const [old, now, sign, code] = [...tr.querySelectorAll("td")];
    return [tr.className, old?.textContent, now?.textContent, sign?.firstChild?.textContent ?? "", code?.textContent];
  });
}

describe("Diff", () => {
  beforeEach(() => localStorage.setItem("gatelatch.diff", "unified"));

  it("shows sign, numbers and text of every line", () => {
    render(<Diff piece="0" block={{ kind: "diff", title: "a.ts", lines, added: 2, removed: 1 }} />);
    expect(rows()).toEqual([
      ["", "1", "1", "", "import x"],
      ["is-del", "2", "", "−", "const MAX = 5;"],
      ["is-add", "", "2", "+", "const MAX = 4;"],
      ["is-add", "", "3", "+", ""],
    ]);
    expect(document.querySelector(".diff-head")?.textContent).toBe("a.ts+2 −1lines of the replaced textDiff viewSplitUnified");
  });

  it("leaves out the empty last line that both sides have, and no other", () => {
    const both: Line = { op: " ", old: 3, new: 4, text: "" };
    const { unmount } = render(<Diff piece="0" block={{ kind: "diff", lines: [...lines, both, both] }} />);
    expect(rows()).toHaveLength(lines.length + 1);
    unmount();
    render(<Diff piece="0" block={{ kind: "diff", lines }} />);
    expect(rows()).toHaveLength(lines.length);
  });

  it("tints the words that changed when as many lines came as went", () => {
    render(<Diff piece="0" block={{ kind: "diff", lines: lines.slice(0, 3) }} />);
    expect(document.querySelector("del")?.textContent).toBe("5");
    expect(document.querySelector("ins")?.textContent).toBe("4");
  });
});

describe("changedWords", () => {
  const pairs = (a: string, b: string) =>
    [...changedWords([{ op: "-", text: a }, { op: "+", text: b }]).values()].map((w) => [w.before, w.changed, w.after]);

  it("finds the middle between what is the same at both ends", () => {
    expect(pairs("await sleep(BASE);", "await sleep(backoff(n));")).toEqual([
      ["await sleep(", "BASE", ");"],
      ["await sleep(", "backoff(n)", ");"],
    ]);
  });

  it("never cuts a named character", () => {
    expect(pairs("a⟨U+202E⟩b", "a⟨U+202D⟩b")).toEqual([
      ["a", "⟨U+202E⟩", "b"],
      ["a", "⟨U+202D⟩", "b"],
    ]);
  });

  it("loses no character, in whatever lines", () => {
    for (const [a, b] of [["", "x"], ["aa", "aaa"], ["x y", "x  y"], ["same", "same"], ["😀 a", "😀 b"], ["  ", " "]] as const) {
      const list: Line[] = [{ op: "-", text: a }, { op: "+", text: b }];
      for (const [i, w] of changedWords(list)) expect(w.before + w.changed + w.after).toBe(list[i]!.text);
    }
  });

  it("marks nothing where lines have nothing in common or do not pair up", () => {
    expect(pairs("abc", "xyz")).toEqual([]);
    expect(changedWords([{ op: "-", text: "a b" }, { op: "+", text: "a c" }, { op: "+", text: "d" }]).size).toBe(0);
  });
});
