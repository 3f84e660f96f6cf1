import { fireEvent } from "@testing-library/preact";
import { beforeEach, expect, it } from "vitest";
import type { Call } from "../src/api.gen";
import { aCall, settled } from "./calls";
import { Gateway } from "./gateway";
import { arm, button, find, newsText, pass, press, show } from "./page";

let gateway: Gateway;
let call: Call;

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

it("waits until every question is answered, and arms anew after each answer", async () => {
  await show(call);
  await arm();
  expect(ready()).toBe(false);
  await choose(1, 1);
  await arm();
  expect(newsText()).toBe("1 of 2 answered");
  expect(ready()).toBe(false);
  await choose(2, 1);
  expect(ready()).toBe(false);
  await arm();
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
