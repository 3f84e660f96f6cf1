import { fireEvent } from "@testing-library/preact";
import { beforeAll, beforeEach, expect, it } from "vitest";
import type { Call, Question } from "../src/api.gen";
import { answersOf, filledBy } from "../src/call/questions";
import { go } from "../src/state";
import { watchKeys } from "../src/ui/keys";
import { aCall, settled } from "./calls";
import { Gateway } from "./gateway";
import { arm, button, find, has, key, newsText, pass, press, show } from "./page";

let gateway: Gateway;
let call: Call;
beforeAll(watchKeys);

beforeEach(() => {
  gateway = new Gateway();
  const questions = [
    { key: "How?", question: "How⟨U+200B⟩?", options: [{ value: "fast", label: "Fast" }, { value: "slow", label: "Slow" }] },
    { key: "Which?", question: "Which?", multi: true, options: [{ value: "a", label: "A" }, { value: "b", label: "B" }] },
  ];
  call = aCall({ kind: "question", card: { icon: "ask", says: "Asks you 2 questions", subject: "How, Which", blocks: [{ kind: "questions", questions }] } });
  gateway.answers[`POST /v1/calls/${call.id}/decision`] = () => ({ body: settled(call) });
});

const sent = () => gateway.to(`POST /v1/calls/${call.id}/decision`).map((a) => a.body);
const ready = () => button("allow").getAttribute("aria-disabled") !== "true";

async function choose(question: number, option: number) {
  find<HTMLInputElement>(`fieldset:nth-of-type(${question}) .choice:nth-child(${option}) input`).click();
  await pass();
}

it("sends the answers by the question's exact text, several joined in the order of the options", async () => {
  await show(call);
  expect(button("allow").textContent).toContain("Send answers");
  await choose(1, 1);
  await choose(1, 2);
  await choose(2, 2);
  await choose(2, 1);
  await arm();
  await press("allow");
  expect(sent()).toEqual([{ state: "allowed", digest: call.digest, answers: { "How?": "slow", "Which?": "a, b" } }]);
});

it("waits until every question is answered, and an answer disarms nothing", async () => {
  await show(call);
  await arm();
  expect(ready()).toBe(false);
  await choose(1, 1);
  expect(newsText()).toBe("1 of 2 answered");
  expect(ready()).toBe(false);
  expect(button("deny").getAttribute("aria-disabled")).toBeNull();
  await choose(2, 1);
  expect(button("deny").getAttribute("aria-disabled")).toBeNull();
  expect(ready()).toBe(true);
});

it("takes other words instead of an option, or besides several", async () => {
  await show(call);
  await choose(1, 1);
  await choose(2, 2);
  for (const field of document.querySelectorAll(".other .text")) fireEvent.input(field, { target: { value: " my own " } });
  await arm();
  await press("allow");
  expect(sent()).toMatchObject([{ answers: { "How?": "my own", "Which?": "b, my own" } }]);
});

it("counts empty other words as no answer", async () => {
  await show(call);
  await choose(1, 3);
  await choose(2, 1);
  await arm();
  expect(ready()).toBe(false);
});

it("declines without answers", async () => {
  await show(call);
  await choose(1, 1);
  await arm();
  await press("deny");
  expect(sent()).toEqual([{ state: "denied", digest: call.digest }]);
});

it("takes keys from an option that has the focus, but not from words", async () => {
  await show(call);
  await choose(1, 1);
  await choose(2, 1);
  await arm();
  await key("a", find(".other .text"));
  expect(sent()).toHaveLength(0);
  await key("?", find("fieldset input"));
  expect(has(".keys")).toBe(true);
  await key("a", find("fieldset input"));
  expect(sent()).toHaveLength(1);
});

it("shows what was answered, and lets nobody change it", async () => {
  const done = settled(call);
  await show({ ...done, decided: { ...done.decided!, answers: { "How?": "slow", "Which?": "b, my own" } } });
  go("/history", call.id);
  await pass();
  const checked = [...document.querySelectorAll(".choice:has(input:checked)")].map((e) => e.textContent);
  expect(checked).toEqual(["Slow", "B", "Othermy own"]);
  expect(document.querySelectorAll("fieldset:disabled")).toHaveLength(2);
  expect(has(".other .text")).toBe(false);
});

it("loses no word of an answer, whatever it is made of", () => {
  const options = ["a", "a, b", "b"].map((value) => ({ value, label: value }));
  for (const multi of [false, true]) {
    const q: Question = { key: "q", question: "q", multi, options };
    for (const answer of ["a", "a, b", "b, a", "a, a, b", "a, c", "ab", "b, ", "else"]) {
      const again = answersOf([q], filledBy([q], { q: answer }))["q"];
      expect(again).toBe(answer === "b, " && multi ? "b" : answer.trim());
    }
  }
  expect(filledBy([{ key: "q", question: "q", options }])).toEqual({ q: { chosen: [], other: false, text: "" } });
});
