import { act, fireEvent } from "@testing-library/preact";
import { beforeAll, beforeEach, expect, it } from "vitest";
import { loggedIn } from "../src/api";
import type { Call } from "../src/api.gen";
import { put } from "../src/queue/store";
import { newsTime } from "../src/state";
import { watchKeys } from "../src/ui/keys";
import { aCall, inBatch, settled } from "./calls";
import { Gateway, refusal } from "./gateway";
import { arm, button, card, find, has, key, newsText, pass, press, show } from "./page";

let gateway: Gateway;
beforeAll(watchKeys);
beforeEach(() => {
  gateway = new Gateway();
});

const route = (c: Call) => `POST /v1/calls/${c.id}/decision`;
const decisions = (c: Call) => gateway.to(route(c)).map((a) => a.body);

it("binds the decision to the digest that was shown, and goes to the next call", async () => {
  const [a, b] = [aCall(), aCall()];
  gateway.answers[route(a)] = () => ({ body: settled(a, "allowed", "Mira Okafor") });
  await show(a, b);
  await arm();
  await press("allow");
  expect(decisions(a)).toEqual([{ state: "allowed", digest: a.digest }]);
  expect(card().dataset["call"]).toBe(b.id);
  expect(has(`[data-call="${a.id}"]`)).toBe(false);
  expect(newsText()).toBe(`Allowed once ${a.card.subject}`);
  expect(document.querySelector(".decide")?.className).toContain("has-news");
});

it("tells good news for a while, bad news until something else is done", async () => {
  const [a, b] = [aCall(), aCall()];
  gateway.answers[route(a)] = () => ({ body: settled(a) });
  gateway.answers[route(b)] = () => "no answer";
  await show(a, b);
  await arm();
  await press("allow");
  await pass(newsTime - 1);
  expect(newsText()).toContain("Allowed once");
  await pass(1);
  expect(newsText()).toBe("");
  await press("allow");
  await pass(10 * newsTime);
  expect(newsText()).toContain("Not sent");
  await act(() => put(aCall()));
  await key("j");
  expect(newsText()).toBe("");
});

it("says that nothing is left after the last one", async () => {
  const a = aCall();
  gateway.answers[route(a)] = () => ({ body: settled(a, "denied", "Mira Okafor") });
  await show(a);
  await arm();
  await key("d");
  expect(has("article.card")).toBe(false);
  expect(document.body.textContent).toContain("Nothing waits for you.");
  expect(find(".calm-news").textContent).toBe(`Denied ${a.card.subject}`);
});

it("denies with words for the agent", async () => {
  const a = aCall();
  gateway.answers[route(a)] = () => ({ body: settled(a, "denied") });
  await show(a);
  await arm();
  await key("D", document.body, { shiftKey: true });
  const note = find<HTMLTextAreaElement>('textarea[data-field="note"]');
  expect(document.activeElement).toBe(note);
  fireEvent.input(note, { target: { value: "  Use the package manager.  " } });
  await arm();
  await press("deny-send");
  expect(decisions(a)).toEqual([{ state: "denied", digest: a.digest, note: "Use the package manager." }]);
});

it("goes back from the words without deciding", async () => {
  const a = aCall();
  await show(a);
  await arm();
  await press("deny-say");
  await key("Escape", find("textarea"));
  expect(has("textarea")).toBe(false);
  expect(button("allow")).toBeTruthy();
  expect(decisions(a)).toEqual([]);
});

it("tells who was faster, and shows the call as it was decided", async () => {
  const a = aCall();
  const theirs = settled(a, "allowed", "Jon Hale");
  gateway.calls = [theirs];
  gateway.answers[route(a)] = () => refusal(409, "settled", { decided: theirs.decided });
  await show(a);
  await arm();
  await press("deny");
  expect(newsText()).toContain("Already decided by Jon Hale as allowed");
  expect(has(`[data-call="${a.id}"]`)).toBe(false);
  expect(card().dataset["settled"]).toBe(a.id);
  expect(has('[data-act="allow"]')).toBe(false);
});

it("shows a call that changed anew, and decides only on what it shows now", async () => {
  const a = aCall();
  const changed = { ...a, digest: "e".repeat(64), card: { ...a.card, says: "Runs another command" } };
  gateway.calls = [changed];
  gateway.answers[route(a)] = (q) =>
    (q.body as { digest: string }).digest === changed.digest ? { body: settled(changed) } : refusal(409, "changed");
  await show(a);
  await arm();
  await press("allow");
  expect(card().textContent).toContain("Runs another command");
  expect(newsText()).toContain("Not sent: the call changed");
  await press("allow"); // not armed yet
  expect(decisions(a)).toHaveLength(1);
  await arm();
  await press("allow");
  expect(decisions(a)).toHaveLength(2);
});

it.each([
  ["everything is stopped", () => refusal(423, "paused"), "everything is stopped"],
  ["the gateway does not answer", () => "no answer" as const, "the gateway does not answer"],
  ["something else is wrong", () => refusal(500, "internal", { hint: "the log says more" }), "the log says more"],
])("keeps the card when %s, and can be tried again", async (_, answer, words) => {
  const a = aCall();
  gateway.answers[route(a)] = answer;
  await show(a);
  await arm();
  await press("allow");
  expect(newsText()).toContain("Not sent");
  expect(newsText()).toContain(words);
  expect(card().dataset["call"]).toBe(a.id);
  await press("allow");
  expect(decisions(a)).toHaveLength(2);
});

it("leads to the login screen when the session is over", async () => {
  const a = aCall();
  gateway.answers[route(a)] = () => refusal(401, "unauthenticated");
  await show(a);
  await arm();
  await press("allow");
  expect(loggedIn.value).toBe(false);
  expect(document.body.textContent).toContain("gatelatch open");
});

it("sends one decision for two quick clicks", async () => {
  const a = aCall();
  let answer = () => {};
  gateway.answers[route(a)] = () => new Promise((done) => (answer = () => done({ body: settled(a) })));
  await show(a);
  await arm();
  button("allow").click();
  button("allow").click();
  await press("deny");
  expect(decisions(a)).toHaveLength(1);
  answer();
  await pass();
});

it("shows what somebody else decided about the call in focus, and leads on", async () => {
  const [a, b] = [aCall(), aCall()];
  await show(a, b);
  await act(() => put(settled(a, "denied", "Jon Hale")));
  expect(find(".decide").textContent).toContain("Denied by Jon Hale");
  expect(find(`[data-settled="${a.id}"]`).className).toContain("is-settled");
  find(".decide .btn").click();
  await pass();
  expect(card().dataset["call"]).toBe(b.id);
  expect(has(`[data-settled="${a.id}"]`)).toBe(false);
});

it("says that a batch opens only when all are settled", async () => {
  const [one, two, three] = [1, 2, 3].map((n) => aCall({ batch: inBatch("bat", n) })) as [Call, Call, Call];
  await show(two, one, three);
  expect(newsText()).toContain("Decides call 2 of 3. Nothing runs until all are settled.");
  const head = () => find(".batch-head").textContent;
  expect(head()).toBe("Batch of 3, opens when all are settled");
  await act(() => put(settled(one)));
  expect(head()).toBe("Batch of 3, 2 still wait");
  await act(() => put(settled(three)));
  expect(head()).toBe("Batch of 3, 1 still waits");
});

it("shows identical calls as one, and sends a decision for each", async () => {
  const a = aCall({ same: "s" });
  const row = { same: "s", agent: a.agent, session: a.session, card: { ...a.card, blocks: [] }, digest: "", brief: true };
  const same = [aCall({ ...row }), aCall({ ...row })];
  const other = aCall();
  for (const c of [a, ...same]) gateway.answers[route(c)] = () => ({ body: settled(c, "denied", "Mira Okafor") });
  await show(a, same[0]!, same[1]!, other);
  expect(document.querySelectorAll(".row")).toHaveLength(2);
  expect(find(`.row[data-call="${a.id}"] [data-same]`).textContent).toBe("×3");
  expect(find(".decide-status").textContent).toContain("3 identical calls wait");
  await arm();
  await press("deny");
  for (const c of [a, ...same]) expect(decisions(c)).toEqual([{ state: "denied", digest: a.digest }]);
  expect(card().dataset["call"]).toBe(other.id);
  expect(decisions(other)).toEqual([]);
});

it("says when not all identical calls could be decided", async () => {
  const a = aCall({ same: "s" });
  const b = aCall({ same: "s", digest: a.digest, agent: a.agent, session: a.session });
  gateway.answers[route(a)] = () => ({ body: settled(a, "allowed", "Mira Okafor") });
  gateway.answers[route(b)] = () => "no answer";
  await show(a, b);
  await arm();
  await press("allow");
  expect(newsText()).toContain("Only 1 of 2 were sent.");
});
