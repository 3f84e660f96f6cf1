import { fireEvent } from "@testing-library/preact";
import { beforeEach, expect, it } from "vitest";
import type { Call } from "../src/api.gen";
import { go } from "../src/state";
import { aCall, settled } from "./calls";
import { Gateway } from "./gateway";
import { arm, button, card, find, pass, press, show } from "./page";

let gateway: Gateway;
beforeEach(() => {
  gateway = new Gateway();
});

async function open(about: Partial<Call> = {}): Promise<Call> {
  const call = aCall(about);
  gateway.answers[`POST /v1/calls/${call.id}/decision`] = () => ({ body: settled(call, "denied") });
  await show(call);
  await arm();
  return call;
}

const sent = (c: Call) => gateway.to(`POST /v1/calls/${c.id}/decision`).map((a) => a.body);
const say = (value: string) => fireEvent.input(find('[data-field="note"]'), { target: { value } });

it("denies and stops the agent, with or without words", async () => {
  const call = await open();
  await press("deny-say");
  await arm();
  await press("deny-stop");
  expect(sent(call)).toEqual([{ state: "denied", digest: call.digest, interrupt: true }]);
  expect(document.body.textContent).toContain("Denied, and the agent stopped");
});

it("replies only with words", async () => {
  const call = await open();
  await press("deny-say");
  await arm();
  await press("reply");
  expect(sent(call)).toEqual([]);
  say(" Use the branch. ");
  await pass();
  await press("reply");
  expect(sent(call)).toEqual([{ state: "denied", digest: call.digest, note: "Use the branch.", reply: true }]);
});

it.each(["startEditing", "clearContextAndStart"])("approves a plan to be carried out as %s", async (choice) => {
  const call = await open({ kind: "plan", card: { icon: "plan", says: "Wants to start on a plan", subject: "Plan", blocks: [] } });
  const chosen = () => find<HTMLInputElement>("input[name=choice]:checked").value;
  expect(chosen()).toBe("startEditing");
  find<HTMLInputElement>(`input[name=choice][value=${choice}]`).click();
  await pass();
  expect(button("allow").getAttribute("aria-disabled")).toBeNull();
  await press("allow");
  expect(sent(call)).toEqual([{ state: "allowed", digest: call.digest, choice }]);
});

const at = "2026-01-02T03:04:05Z";
const person = { kind: "person", name: "Jon Hale" };

it.each<[string, Partial<Call>, string, string]>([
  ["done", { outcome: { kind: "done", at }, consumed: at }, "Alloweddone", "the agent reported success"],
  ["failed", { outcome: { kind: "failed", at }, consumed: at }, "Allowedfailed", "the agent reported a failure"],
  ["unknown", { outcome: { kind: "unknown", at }, consumed: at }, "Allowedoutcome unknown", "it may have run"],
  ["running", { consumed: at }, "Allowed", "it has begun"],
  ["not taken yet", { lapses: at }, "Allowed", "the agent has not come for it yet"],
  ["edited", { edited: { by: person, at }, outcome: { kind: "done", at } }, "Alloweddone, edited", "Edited by Jon Hale"],
])("tells in the history that a call is %s", async (_, about, row, bar) => {
  const call = settled(aCall(about));
  await show(call);
  go("/history");
  await pass();
  expect(find(`tr[data-settled="${call.id}"] td:nth-child(2)`).textContent).toBe(row);
  go("/history", call.id);
  await pass();
  expect(card().textContent).toContain(bar);
});

it.each<[string, Partial<Call>, string]>([
  ["by what was remembered", { decided: { state: "allowed", by: { kind: "policy" }, at, grant: "gra_1" } }, "remembered Bash(x)"],
  ["by a rule", { decided: { state: "allowed", by: { kind: "policy" }, at } }, "rule Bash(x)"],
  ["and remembered", { decided: { state: "allowed", by: person, at, grant: "gra_1" } }, "Jon Haleand remembered"],
])("tells in the history that a call was allowed %s", async (_, about, words) => {
  const verdict = { effect: "allow", reasons: [{ effect: "allow", layer: "grant", rule: "Bash(x)", message: "Allowed" }] };
  const call = aCall({ state: "allowed", verdict, ...about });
  await show(call);
  go("/history");
  await pass();
  expect(find(`tr[data-settled="${call.id}"] td:nth-child(6)`).textContent).toBe(words);
});

it.each<[Partial<NonNullable<Call["decided"]>>, string]>([
  [{ interrupt: true }, "Denied and stopped by Jon Hale"],
  [{ reply: true, note: "no" }, "Denied with a reply by Jon Hale"],
])("tells which kind of denial it was: %o", async (about, words) => {
  const call = settled(aCall(), "denied");
  await show({ ...call, decided: { ...call.decided!, ...about } });
  go("/history", call.id);
  await pass();
  expect(find(".decide").textContent).toContain(words);
});
