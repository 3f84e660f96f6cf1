import { fireEvent } from "@testing-library/preact";
import { beforeAll, beforeEach, expect, it } from "vitest";
import type { Call } from "../src/api.gen";
import { inputOf, textOf } from "../src/call/input";
import { status } from "../src/state";
import { watchKeys } from "../src/ui/keys";
import { aCall, command, settled } from "./calls";
import { Gateway, refusal } from "./gateway";
import { arm, button, card, find, has, key, newsText, pass, press, show } from "./page";

let gateway: Gateway;
let call: Call;
const you = { kind: "person", id: "prs_1", name: "Mira Okafor" };
beforeAll(watchKeys);
beforeEach(() => {
  gateway = new Gateway();
  status.value = { version: "dev", you, seq: 1 };
  call = aCall({ input: { command: "git push -f", timeout: 5 }, card: { icon: "term", says: "Runs git", subject: "git push -f", blocks: [command("git push -f")] } });
});

const route = (c: Call, what: string) => `POST /v1/calls/${c.id}/${what}`;
const bodies = (what: string) => gateway.to(route(call, what)).map((a) => a.body);
const field = () => find<HTMLTextAreaElement>('[data-field="input"]');
const ready = () => button("edit-send").getAttribute("aria-disabled") !== "true";

function edited(text: string): Call {
  return {
    ...call,
    digest: "e".repeat(64),
    replaced: true,
    edited: { by: you, at: new Date(Date.now()).toISOString() },
    input: { command: text, timeout: 5 },
    card: { ...call.card, subject: text, blocks: [command(text)] },
  };
}

async function write(value: string) {
  fireEvent.input(field(), { target: { value } });
  await arm();
}

it("edits a command, shows it as edited by you, and needs its own allow", async () => {
  const after = edited("git push");
  gateway.answers[route(call, "input")] = () => ({ body: after });
  gateway.answers[route(call, "decision")] = () => ({ body: settled(after) });
  await show(call);
  await arm();
  await key("e");
  expect(document.activeElement).toBe(field());
  expect(field().value).toBe("git push -f");
  await arm();
  expect(ready()).toBe(false); // nothing was changed
  await write("git push");
  await press("edit-send");
  expect(bodies("input")).toEqual([{ digest: call.digest, input: { command: "git push", timeout: 5 } }]);
  expect(bodies("decision")).toEqual([]);
  expect(find(".where .chip").textContent).toBe("edited by you");
  expect(card().textContent).toContain("Edited by you at");
  expect(card().textContent).not.toContain("git push -f");
  expect(newsText()).toContain("It still waits");
  await press("allow"); // not armed yet: it is a new call to look at
  expect(bodies("decision")).toEqual([]);
  await arm();
  await press("allow");
  expect(bodies("decision")).toEqual([{ state: "allowed", digest: after.digest }]);
});

it("edits any other input as JSON, and saves none that is not", async () => {
  call = { ...call, tool: "mcp__fs__write", input: { path: "a", n: 1 } };
  gateway.answers[route(call, "input")] = () => ({ body: edited("x") });
  await show(call);
  await arm();
  await press("edit");
  expect(JSON.parse(field().value)).toEqual({ path: "a", n: 1 });
  await write('{"path": "b"');
  expect(ready()).toBe(false);
  expect(find("#input-says").textContent).toContain("Not JSON yet");
  await press("edit-send");
  expect(bodies("input")).toEqual([]);
  await write('{"path": "b"}');
  await key("Enter", field(), { ctrlKey: true });
  expect(bodies("input")).toEqual([{ digest: call.digest, input: { path: "b" } }]);
});

it("tells why the gateway does not take it, keeps the text, and starts again when asked to", async () => {
  gateway.answers[route(call, "input")] = () => refusal(400, "invalid", { message: "a rule denies the edited input" });
  await show(call);
  await arm();
  await press("edit");
  await write("rm x");
  await press("edit-send");
  expect(newsText()).toContain("a rule denies the edited input");
  expect(field().value).toBe("rm x");
  find(".step .btn.is-link").click();
  await pass();
  expect(field().value).toBe("git push -f");
  await key("Escape", field());
  expect(has('[data-field="input"]')).toBe(false);
});

it("says who else edited it", async () => {
  await show({ ...edited("x"), edited: { by: { kind: "person", id: "prs_2", name: "Jon Hale" }, at: call.created } });
  expect(card().textContent).toContain("Edited by Jon Hale at");
  expect(find(".where .chip").textContent).toBe("edited ");
});

it("hides nothing in the field: what does not show stands as an escape", () => {
  const input = { command: "echo \u202egnp.exe\u{e0041} é" };
  const hidden = { ...call, input, card: { ...call.card, blocks: [command("echo ⟨U+202E⟩gnp.exe⟨U+E0041⟩ é")] } };
  const text = textOf(hidden);
  expect(text.what).toBe("json");
  expect(text.text).toContain("echo \\u202egnp.exe\\udb40\\udc41 é");
  expect(inputOf(hidden, text)).toEqual({ input });
  expect(inputOf(call, { what: "command", text: " ", from: "" })).toHaveProperty("wrong");
});
