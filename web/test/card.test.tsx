import { fireEvent } from "@testing-library/preact";
import { beforeEach, expect, it } from "vitest";
import type { Call, Card, Touch } from "../src/api.gen";
import { cellsOf, graveOf } from "../src/call/effects";
import { cut, longPieces, most } from "../src/call/long";
import { rowsOf } from "../src/call/rows";
import { pause } from "../src/call/trial";
import { aCall, inBatch, settled } from "./calls";
import { Gateway, refusal } from "./gateway";
import { arm, button, card, find, has, newsText, pass, press, show } from "./page";

let gateway: Gateway;
beforeEach(() => {
  gateway = new Gateway();
});

const doing = (...touches: Touch[]): Card => ({ ...aCall().card, touches });
const off = (name: string) => button(name).getAttribute("aria-disabled") === "true";
const cell = (effect: string) => find(`[data-effect="${effect}"] dd`).textContent;

it("tells the six effects, none of them too", async () => {
  await show(aCall({ card: doing({ does: "delete", what: "/home/mira/x", outside: true }, { does: "read", what: "/home/mira/checkout-api/a" }) }));
  expect(cell("read")).toBe("1 patha");
  expect(cell("delete")).toBe("1 path/home/mira/x");
  expect(cell("outside")).toBe("1 path/home/mira/x");
  expect(cell("net")).toBe("None");
});

it.each<[string, Touch]>([
  ["unknown", { does: "unknown" }],
  ["hidden code", { does: "exec" }],
  ["a file that nobody knows", { does: "write", outside: true }],
])("never says none where there is %s", (_, touch) => {
  expect(cellsOf(doing(touch))!.every((c) => !c.known)).toBe(true);
});

it("says nothing where nothing was computed", async () => {
  await show(aCall());
  expect(has(".strip")).toBe(false);
});

const host = { does: "net", what: "x.example" };
it.each<[string, Touch[], string | null]>([
  ["a secret and a host", [{ does: "read", what: "/p/.env", secret: true }, host], "x.example"],
  ["rights", [{ does: "privilege", what: "sudo" }], "sudo"],
  ["a deletion outside", [{ does: "delete", what: "/a/b c", outside: true }], "allow"],
  ["a host alone", [host], null],
])("asks for a word before %s is allowed", (_, touches, word) => {
  expect(graveOf(aCall({ card: doing(...touches) }))?.word ?? null).toBe(word);
});

it("allows what is grave only after its word was typed", async () => {
  const call = aCall({ card: doing({ does: "privilege", what: "sudo" }) });
  gateway.answers[`POST /v1/calls/${call.id}/decision`] = () => ({ body: settled(call) });
  await show(call);
  await arm();
  await press("allow");
  await arm();
  expect(off("confirm-send")).toBe(true);
  fireEvent.input(find('[data-field="confirm"]'), { target: { value: "sudo" } });
  await arm();
  await press("confirm-send");
  expect(gateway.to(`POST /v1/calls/${call.id}/decision`)).toHaveLength(1);
});

const long = "first\n" + "line\n".repeat(most.lines) + "last";

it("allows what is long only after all of it was shown", async () => {
  const call = aCall({ card: { ...aCall().card, blocks: [{ kind: "content", title: "a", segments: [{ text: long }] }] } });
  let seen: (() => void) | undefined;
  class Watch {
    constructor(tell: (found: { isIntersecting: boolean }[]) => void) {
      seen = () => tell([{ isIntersecting: true }]);
    }
    observe() {}
    disconnect() {}
  }
  const before = globalThis.IntersectionObserver;
  globalThis.IntersectionObserver = Watch as unknown as typeof IntersectionObserver;
  try {
    await show(call);
    await arm();
    expect(off("allow")).toBe(true);
    expect(off("deny")).toBe(false);
    expect(card().textContent).toContain("last");
    await press("show-all");
    expect(find(".content pre").textContent).toContain(long.slice(0, 100));
    await arm();
    expect(off("allow")).toBe(true);
    seen!();
    await arm();
    expect(off("allow")).toBe(false);
  } finally {
    globalThis.IntersectionObserver = before;
  }
});

it("cuts long text into pieces that are all of it, and no name in two", () => {
  const text = "a⟨U+202E⟩".repeat(3000);
  const { head, between, tail } = cut([{ text: text.slice(0, 5000) }, { text: text.slice(5000), asked: true }]);
  const joined = [head, between, tail].map((p) => p.map((s) => s.text).join(""));
  expect(joined.join("")).toBe(text);
  for (const piece of joined) expect(piece.replaceAll(/⟨[^⟨⟩]*⟩/g, "")).not.toMatch(/[⟨⟩]/);
  expect(longPieces(aCall({ card: { ...aCall().card, blocks: [{ kind: "form", fields: [{ name: "x", kind: "text", text }] }] } }))).toEqual(["0.0"]);
});

const lines = (ops: string) => [...ops].map((op, i) => ({ op, text: String(i) }));
it("pairs lines for two columns, and folds those of a file that stay", () => {
  expect(rowsOf(lines("--+ "), true, false)).toEqual([{ old: 0, new: 2 }, { old: 1 }, { old: 3, new: 3 }]);
  expect(rowsOf(lines("--+"), false, false)).toEqual([{ old: 0 }, { old: 1 }, { new: 2 }]);
  const folded = rowsOf(lines("+" + " ".repeat(20) + "-"), true, true);
  expect(folded.filter((r) => "same" in r)).toEqual([{ same: Array.from({ length: 14 }, (_, i) => i + 4) }]);
  expect(rowsOf(lines("+" + " ".repeat(20) + "-"), true, false).some((r) => "same" in r)).toBe(false);
});

it("tells what is new since a similar call was allowed", async () => {
  const by = { kind: "person", id: "p", name: "Jon Hale" };
  const before = { of: 9, count: 2, call: "cal_old", by, at: new Date().toISOString(), fresh: [{ does: "delete", what: "/x", outside: true }] };
  await show(aCall({ before }));
  expect(find(".since").textContent).toMatch(/Allowed 2 times before, last by Jon Hale at .* Not touched then:deletes \/x/);
  expect(find<HTMLAnchorElement>(".since a").getAttribute("href")).toBe("/history#cal_old");
});

it("tells when exactly this was allowed before", async () => {
  const by = { kind: "person", id: "p", name: "Jon Hale" };
  await show(aCall({ before: { of: 9, count: 1, call: "cal_old", by, at: new Date().toISOString(), exactly: true } }));
  expect(find(".since").textContent).toMatch(/Allowed once before, by Jon Hale at .* This exact input was allowed before\./);
});

it("decides all of a batch, each by its own digest, and starts without what is worth a look", async () => {
  const harmless = { does: "write", what: "/p/a" };
  const calls = [
    aCall({ batch: inBatch("b", 1), card: doing(harmless) }),
    aCall({ batch: inBatch("b", 2), card: doing({ does: "delete", what: "/p/b" }) }),
    aCall({ batch: inBatch("b", 3), kind: "question", card: doing(harmless) }),
  ];
  for (const c of calls) gateway.answers[`POST /v1/calls/${c.id}/decision`] = () => ({ body: settled(c) });
  await show(...calls);
  await press("all");
  const boxes = [...document.querySelectorAll<HTMLInputElement>(".all input")];
  expect(boxes.map((b) => [b.checked, b.disabled])).toEqual([[true, false], [false, false], [false, true]]);
  boxes[1]!.click();
  await arm();
  await press("all-allow");
  const sent = calls.map((c) => gateway.to(`POST /v1/calls/${c.id}/decision`).map((a) => a.body));
  expect(sent).toEqual([[{ state: "allowed", digest: calls[0]!.digest }], [{ state: "allowed", digest: calls[1]!.digest }], []]);
  expect(newsText()).toContain("Allowed 2 calls, once");
});

async function remembering(): Promise<Call> {
  const call = aCall({ remember: [{ scope: "session", match: "Bash(x)" }] });
  await show(call);
  await arm();
  return call;
}

it("tries a matcher on the last calls, and says why it can't be remembered", async () => {
  const call = await remembering();
  const route = `POST /v1/calls/${call.id}/trial`;
  gateway.answers[route] = () => ({ body: { of: 9, matches: 2, calls: ["x 1", "x 2"] } });
  await press("remember");
  await pass(pause);
  expect(find(".trial").textContent).toBe("Of the last 9 calls it reaches, it would have allowed 2:x 1x 2");
  expect(gateway.to(route).map((a) => a.body)).toEqual([{ scope: "session", match: "Bash(x)" }]);
  gateway.answers[route] = () => refusal(400, "invalid");
  fireEvent.input(find('[data-field="match"]'), { target: { value: "Bash(y)" } });
  await pass(pause);
  expect(find(".trial").textContent).toBe("refused: invalid");
});

it.each([
  ['{"file_path":1}', "has to be text"],
  ["{}", "needs “file_path”"],
  ["[]", "takes an object"],
  ["{", "Not JSON yet"],
])("does not save %s in place of a path", async (value, why) => {
  await show(aCall({ tool: "Read", input: { file_path: "/a" } }));
  await arm();
  await press("edit");
  fireEvent.input(find('[data-field="input"]'), { target: { value } });
  await arm();
  expect(find("#input-says").textContent).toContain(why);
  expect(off("edit-send")).toBe(true);
});
