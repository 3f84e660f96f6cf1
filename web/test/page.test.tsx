import { act, fireEvent } from "@testing-library/preact";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { setPast } from "../src/history/store";
import { watchPause } from "../src/queue/move";
import { filter, put, selected } from "../src/queue/store";
import { link, news, status, tell } from "../src/state";
import { putCall } from "../src/sync";
import { watchKeys } from "../src/ui/keys";
import { aCall, settled } from "./calls";
import { Gateway } from "./gateway";
import { card, find, has, key, pass, press, show } from "./page";

let gateway: Gateway;
beforeAll(() => {
  watchKeys();
  watchPause();
});
beforeEach(() => {
  gateway = new Gateway();
});

const rows = (kind: "call" | "settled") => [...document.querySelectorAll<HTMLElement>(`:not(article)[data-${kind}]`)].map((e) => e.dataset[kind]);
const you = { kind: "person", name: "Mira Okafor" };

describe("the inbox", () => {
  it("has a row for each call and a card for the one in focus", async () => {
    const [a, b] = [aCall(), aCall()];
    await show(a, b);
    expect(rows("call")).toEqual([a.id, b.id]);
    find(`[data-call="${b.id}"]`).click();
    await pass();
    expect(card().dataset["call"]).toBe(b.id);
    expect(find(`a[data-call="${b.id}"]`).getAttribute("aria-current")).toBe("true");
  });

  it("tells a path inside the project from its root, and any other whole", async () => {
    const at = (subject: string) => aCall({ card: { icon: "file", says: "Changes a file", subject, blocks: [] } });
    const inside = at("/home/mira/checkout-api/src/a.ts");
    const beside = at("/home/mira/checkout-api-2/src/a.ts");
    await show(inside, beside);
    expect(find(`a[data-call="${inside.id}"] .row-text`).textContent).toBe("src/a.ts");
    expect(find(`a[data-call="${beside.id}"] .row-text`).textContent).toBe("/home/mira/checkout-api-2/src/a.ts");
  });

  it("moves with keys, filters, and closes with Escape", async () => {
    const [a, b] = [aCall(), aCall()];
    await show(a, b);
    await key("j");
    expect(selected.value).toBe(b.id);
    await key("k");
    expect(selected.value).toBe(a.id);
    await key("/");
    const field = find<HTMLInputElement>("[data-field=filter]");
    expect(document.activeElement).toBe(field);
    field.value = b.card.subject;
    field.dispatchEvent(new Event("input", { bubbles: true }));
    await pass();
    expect(rows("call")).toEqual([b.id]);
    await key("Escape", field);
    expect(rows("call")).toEqual([a.id, b.id]);
    await key("?");
    expect(has(".keys")).toBe(true);
    await key("Escape");
    expect(has(".keys")).toBe(false);
  });

  it("keeps the filter on Enter, with the focus on a row and the card in the list", async () => {
    const [a, b, c] = [aCall(), aCall({ tool: "Edit" }), aCall({ tool: "Edit" })];
    await show(a, b, c);
    const field = find<HTMLInputElement>("[data-field=filter]");
    field.focus();
    fireEvent.input(field, { target: { value: "nothing has this" } });
    await key("Enter", field);
    expect(selected.value).toBe(a.id);
    fireEvent.input(field, { target: { value: "edit" } });
    await pass();
    expect(card().dataset["call"]).toBe(b.id);
    await key("Enter", field);
    expect(document.activeElement).toBe(find(`a[data-call="${b.id}"]`));
    expect(rows("call")).toEqual([b.id, c.id]);
    await key("j", document.activeElement!);
    expect(selected.value).toBe(c.id);
    await key("Escape");
    expect(filter.value).toBe("");
  });

  it("leaves the filter before it closes anything else", async () => {
    await show(aCall());
    await key("?");
    const field = find<HTMLInputElement>("[data-field=filter]");
    field.focus();
    fireEvent.input(field, { target: { value: "echo" } });
    await key("Escape", field);
    expect([filter.value, document.activeElement === field, has(".keys")]).toEqual(["", false, true]);
  });

  it("tells what to do before the first call, and afterwards what was last", async () => {
    await show();
    expect(find(".calm").textContent).toContain("gatelatch install claude");
    await act(() => putCall(settled(aCall(), "denied", "Jon Hale")));
    expect(find(".calm").textContent).toContain("Last decision: Denied by Jon Hale");
    await act(() => put(aCall()));
    expect(has("article.card")).toBe(true);
  });
});

describe("the history", () => {
  it("lists who decided what, takes up new decisions, and opens a card that decides nothing", async () => {
    const waits = aCall();
    const old = { ...settled(aCall(), "denied"), decided: { state: "denied", by: { kind: "person", name: "Jon Hale" }, at: new Date().toISOString(), note: "Not now." } };
    await show(waits, old);
    find('[data-tab="history"]').click();
    await pass();
    expect(find(`[data-settled="${old.id}"]`).textContent).toMatch(/Denied.*Runs a command.*Jon Hale.*Not now\./);
    await act(() => putCall(settled(waits, "allowed", "Mira Okafor")));
    expect(rows("settled")).toEqual([waits.id, old.id]);

    find(`[data-settled="${old.id}"]`).click();
    await pass();
    expect(card().textContent).toContain("Denied by Jon Hale");
    expect(has("[data-act=allow]")).toBe(false);
    await key("Escape");
    expect(rows("settled")).toHaveLength(2);
  });

  it("moves through the rows by keys, and comes back to the one that was open", async () => {
    const [a, b] = [settled(aCall()), settled(aCall())];
    await show(a, b);
    find('[data-tab="history"]').click();
    await pass();
    const at = () => document.activeElement?.closest<HTMLElement>("tr")?.dataset["settled"];
    await key("j");
    expect(at()).toBe(a.id);
    await key("j");
    await key("j");
    expect(at()).toBe(b.id);
    const before = history.length;
    (document.activeElement as HTMLElement).click();
    await pass();
    expect(card().dataset["settled"]).toBe(b.id);
    expect(history.length).toBe(before + 1);
    await key("Escape");
    expect(at()).toBe(b.id);
    await key("k");
    expect(at()).toBe(a.id);
  });

  it("tells project, agent and the whole note", async () => {
    const call = settled(aCall(), "denied");
    await show({ ...call, decided: { ...call.decided!, note: "Not now." } });
    find('[data-tab="history"]').click();
    await pass();
    expect(find("tbody tr").textContent).toContain("checkout-apiClaude Code on ws-14");
    expect(has('td[title="Not now."]')).toBe(true);
  });

  it("names the rule where a rule decided", async () => {
    const by = { kind: "policy", name: "policy" };
    const call = settled(aCall({ verdict: { effect: "deny", reasons: [{ effect: "deny", layer: "user", rule: "Bash(sudo:*)", message: "no root" }] } }), "denied");
    await show({ ...call, decided: { ...call.decided!, by } });
    find('[data-tab="history"]').click();
    await pass();
    expect(find("tbody tr").textContent).toContain("rule Bash(sudo:*)");
  });

  it("fetches more behind the last one, and each call once", async () => {
    const [a, b, c] = [settled(aCall()), settled(aCall()), settled(aCall())];
    await show();
    await act(() => setPast({ calls: [a, b], more: true, seq: 1 }));
    gateway.answers["GET /v1/calls"] = () => ({ body: { calls: [b, c], more: false, seq: 2 } });
    find('[data-tab="history"]').click();
    await pass();
    await press("more");
    expect(gateway.to("GET /v1/calls")[0]?.query.toString()).toBe(`state=settled&limit=50&after=${b.id}`);
    expect(rows("settled")).toEqual([a.id, b.id, c.id]);
    expect(has("[data-act=more]")).toBe(false);
  });
});

describe("the bar", () => {
  it("stops everything with a second click in the same place, and resumes", async () => {
    const paused = { by: you, at: new Date().toISOString() };
    gateway.answers["POST /v1/pause"] = () => ({ body: { version: "dev", you, seq: 1, paused } });
    gateway.answers["POST /v1/unpause"] = () => ({ body: { version: "dev", you, seq: 2 } });
    await show(aCall());
    await press("pause");
    expect(gateway.to("POST /v1/pause")).toHaveLength(0);
    await press("pause-confirm");
    expect(gateway.to("POST /v1/pause")).toHaveLength(1);
    expect(find(".bar-notice").textContent).toContain("Everything is denied. Stopped by Mira Okafor");
    await press("unpause");
    expect(find(".bar-notice").textContent).toBe("");
    expect(has("[data-act=pause]")).toBe(true);
  });

  it("keeps no settled call and no news when everything was stopped", async () => {
    const [a, b] = [aCall(), aCall()];
    await show(a, b);
    await act(() => tell({ text: "Allowed once", icon: "yes" }));
    await act(() => void (status.value = { version: "dev", you, seq: 1, paused: { by: you, at: "" } }));
    expect(news.value).toBeNull();
    await act(() => [a, b].forEach((c) => putCall(settled(c, "denied"))));
    expect(rows("settled")).toEqual([]);
    expect(document.body.textContent).toContain("Nothing waits for you.");
  });

  it("drops the settled call in view when a stop is heard of later", async () => {
    const a = aCall();
    await show(a);
    await act(() => putCall(settled(a, "denied")));
    expect(rows("settled")).toEqual([a.id]);
    await act(() => void (status.value = { version: "dev", you, seq: 1, paused: { by: you, at: "" } }));
    expect(rows("settled")).toEqual([]);
  });

  it("cannot stop without a connection", async () => {
    await show(aCall());
    await press("pause");
    await act(() => void (link.value = "lost"));
    await press("pause-confirm");
    expect(gateway.to("POST /v1/pause")).toHaveLength(0);
    expect(find(".is-stop").getAttribute("aria-disabled")).toBe("true");
  });

  it("says when it could not stop", async () => {
    gateway.answers["POST /v1/pause"] = () => "no answer";
    await show();
    await press("pause");
    await press("pause-confirm");
    expect(find(".bar-notice").textContent).toBe("Not stopped: the gateway does not answer");
  });

  it("forgets the first click after a while", async () => {
    await show(aCall());
    await press("pause");
    await pass(4_000);
    expect(has("[data-act=pause-confirm]")).toBe(false);
  });

  it("tells of a lost connection before what the gateway has to say", async () => {
    await show(aCall());
    await act(() => void (status.value = { version: "dev", you, seq: 1, notice: "policy.yaml:14 is broken" }));
    expect(find(".bar-notice").textContent).toBe("policy.yaml:14 is broken");
    await act(() => void (link.value = "lost"));
    expect(find(".bar-notice").textContent).toBe("Connection lost, trying again");
  });
});
