import { fireEvent } from "@testing-library/preact";
import { beforeAll, beforeEach, expect, it } from "vitest";
import type { Call, Remember } from "../src/api.gen";
import { firstDraft, termsOf } from "../src/call/remember";
import { watchKeys } from "../src/ui/keys";
import { aCall, settled } from "./calls";
import { Gateway, refusal } from "./gateway";
import { arm, button, card, find, has, key, newsText, pass, press, show } from "./page";

let gateway: Gateway;
let call: Call;
beforeAll(watchKeys);
beforeEach(() => {
  gateway = new Gateway();
  call = aCall({
    remember: [
      { scope: "session", match: "Bash(git push origin main)" },
      { scope: "project", match: "Bash(git push origin main)" },
      { scope: "always", refused: "it ⟨U+202E⟩ runs what the project says" },
    ],
  });
  gateway.answers[`POST /v1/calls/${call.id}/decision`] = () => ({ body: settled(call) });
});

const sent = () => gateway.to(`POST /v1/calls/${call.id}/decision`).map((a) => a.body);
const scope = (name: string) => find<HTMLInputElement>(`input[name=scope][value="${name}"]`);
const field = (name: string) => find<HTMLInputElement>(`[data-field="${name}"]`);
const ready = () => button("remember-send").getAttribute("aria-disabled") !== "true";

async function openStep(c: Call = call) {
  await show(c);
  await arm();
  await key("A", document.body, { shiftKey: true });
}

async function write(name: string, value: string) {
  fireEvent.input(field(name), { target: { value } });
  await arm();
}

it("shows the exact matcher before it is saved, beside the call, and sends just that", async () => {
  await openStep();
  expect(card().textContent).toContain(call.card.subject);
  expect(scope("session").checked).toBe(true);
  expect(document.activeElement).toBe(scope("session"));
  expect(field("match").value).toBe("Bash(git push origin main)");
  expect(button("remember-send").textContent).toContain("Allow and remember for this session");
  await arm();
  await press("remember-send");
  expect(sent()).toEqual([
    { state: "allowed", digest: call.digest, remember: { scope: "session", match: "Bash(git push origin main)" } },
  ]);
  expect(document.body.textContent).toContain("Allowed, and remembered Bash(git push origin main):");
});

it("takes another matcher, a count and a time", async () => {
  await openStep();
  scope("project").click();
  await pass();
  await write("match", " Bash(git push:*) ");
  await write("uses", "5");
  fireEvent.change(field("time"), { target: { value: "3600" } });
  await arm();
  await press("remember-send");
  expect(sent()).toMatchObject([{ remember: { scope: "project", match: "Bash(git push:*)", uses: 5, for_seconds: 3600 } }]);
});

it("keeps the person's own words when the scope changes, and gives the suggestion back", async () => {
  await openStep();
  await write("match", "Bash(git push)");
  scope("project").click();
  await pass();
  expect(field("match").value).toBe("Bash(git push)");
  find(".sect-head .btn").click();
  await pass();
  expect(field("match").value).toBe("Bash(git push origin main)");
});

it("says why a scope is refused, as text, and does not let it be chosen", async () => {
  await openStep();
  expect(scope("always").disabled).toBe(true);
  const words = find(".choice.is-refused");
  expect(words.textContent).toContain("No: it ⟨U+202E⟩ runs what the project says");
  expect(words.querySelector(".esc")?.textContent).toBe("⟨U+202E⟩");
});

it("says once why nothing can be remembered, and still allows once", async () => {
  const refused = "it is not one plain command";
  await openStep({ ...call, remember: ["session", "project", "always"].map((s): Remember => ({ scope: s, refused })) });
  expect(card().textContent!.split(refused)).toHaveLength(2);
  expect(scope("").checked).toBe(true);
  expect(has('[data-field="match"]')).toBe(false);
  await arm();
  await press("remember-send");
  expect(sent()).toEqual([{ state: "allowed", digest: call.digest }]);
});

it("disarms with every change of what would be remembered", async () => {
  await openStep();
  await arm();
  expect(ready()).toBe(true);
  fireEvent.input(field("match"), { target: { value: "Bash(git push:*)" } });
  await pass();
  expect(ready()).toBe(false);
  await press("remember-send");
  expect(sent()).toEqual([]);
  await arm();
  expect(ready()).toBe(true);
});

it("sends nothing that is no matcher or no number", async () => {
  await openStep();
  for (const [name, value] of [["match", "  "], ["uses", "0"], ["uses", "1.5"], ["uses", "many"]] as const) {
    const before = field(name).value;
    await write(name, value);
    expect(ready(), `${name}=${value}`).toBe(false);
    await write(name, before);
    expect(ready()).toBe(true);
  }
});

it("tells the gateway's refusal, and keeps what was typed", async () => {
  gateway.answers[`POST /v1/calls/${call.id}/decision`] = () => refusal(400, "invalid", { message: "Bash(*) can't be remembered: every command" });
  await openStep();
  await write("match", "Bash(*)");
  await press("remember-send");
  expect(newsText()).toContain("every command");
  expect(field("match").value).toBe("Bash(*)");
  expect(card().dataset["call"]).toBe(call.id);
});

it("goes back with Escape; letters in a field decide nothing; Control and Enter send", async () => {
  await openStep();
  await key("a", field("match"));
  await key("d", field("uses"));
  await key("e", field("time"));
  await key("Escape", field("match"));
  expect(has('[data-field="match"]')).toBe(false);
  expect(sent()).toEqual([]);
  await arm();
  await press("remember");
  await key("Enter", field("match"), { ctrlKey: true });
  expect(sent()).toEqual([]); // not armed yet
  await arm();
  await key("Enter", field("match"), { ctrlKey: true });
  expect(sent()).toHaveLength(1);
});

it.each(["question", "plan"])("offers nothing to remember for a %s; only a plan can be edited", async (kind) => {
  await show(aCall({ kind }));
  await arm();
  expect(has('[data-act="remember"]')).toBe(false);
  expect(has('[data-act="edit"]')).toBe(kind === "plan");
});

it("starts with the narrowest that can be remembered", () => {
  const [session, project] = [{ scope: "session", refused: "no" }, { scope: "project", match: "Read(x)" }];
  expect(firstDraft(aCall({ remember: [session, project] }))).toMatchObject({ scope: "project", match: "Read(x)" });
  expect(termsOf(firstDraft(aCall()))).toBeNull();
});

it("offers the command with any arguments, and says what that would allow, too", async () => {
  const exact = "Bash(git commit -m one)";
  const wide = "Bash(git commit:*)";
  const offers = [{ match: exact }, { match: wide, also: ["git commit --amend", "x ⟨U+202E⟩"] }];
  await openStep({
    ...call,
    remember: [
      { scope: "session", match: exact, offers },
      { scope: "project", match: exact, offers },
      { scope: "always", match: exact, offers: [{ match: exact }] },
    ],
  });
  const offer = (match: string) => find<HTMLInputElement>(`input[name=offer][value="${match}"]`);
  expect(offer(exact).checked).toBe(true);
  const label = offer(wide).closest("label")!;
  expect(label.textContent).toContain("Also allows: git commit --amend, x ⟨U+202E⟩");
  expect(label.querySelector(".also .esc")?.textContent).toBe("⟨U+202E⟩");
  offer(wide).click();
  await pass();
  expect(field("match").value).toBe(wide);
  scope("project").click();
  await pass();
  expect(field("match").value).toBe(wide);
  await arm();
  await press("remember-send");
  expect(sent()).toMatchObject([{ remember: { scope: "project", match: wide } }]);
});

it("goes back to the suggestion where the scope does not have the offer", async () => {
  const exact = "Bash(npm run lint)";
  const wide = "Bash(npm run lint:*)";
  await openStep({
    ...call,
    remember: [
      { scope: "session", match: exact, offers: [{ match: exact }, { match: wide }] },
      { scope: "project", match: exact, offers: [{ match: exact }] },
    ],
  });
  find<HTMLInputElement>(`input[name=offer][value="${wide}"]`).click();
  await pass();
  scope("project").click();
  await pass();
  expect(field("match").value).toBe(exact);
  expect(has("input[name=offer]")).toBe(false);
});
