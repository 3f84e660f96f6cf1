import { act } from "@testing-library/preact";
import { beforeAll, beforeEach, expect, it } from "vitest";
import type { Call, Mode } from "../src/api.gen";
import { putMode } from "../src/modes/store";
import { put, select } from "../src/queue/store";
import { link, now, status } from "../src/state";
import { follow } from "../src/sync";
import { watchKeys } from "../src/ui/keys";
import { aCall, inSession, settled } from "./calls";
import { Gateway, refusal } from "./gateway";
import { arm, button, card, find, has, key, newsText, pass, press, show } from "./page";

let gateway: Gateway;
let call: Call;
const jon = { kind: "person", id: "p2", name: "Jon Hale" };
const route = "POST /v1/sessions/mode";

beforeAll(watchKeys);
beforeEach(() => {
  now.value = Date.now();
  gateway = new Gateway();
  call = aCall({ card: { icon: "file", says: "Changes a.ts", subject: "a.ts", blocks: [] } });
  gateway.answers[route] = ({ body }) => {
    const { agent, mode, for_seconds } = body as { agent: string; mode: string; for_seconds?: number };
    return { body: { agent, session: call.session, since: call.created, mode: aMode(mode, for_seconds) } };
  };
});

function aMode(mode: string, seconds = 0, more: Partial<Mode> = {}): Mode {
  const until = seconds > 0 ? { until: new Date(Date.now() + seconds * 1000).toISOString() } : {};
  return { mode, by: jon, at: new Date(Date.now()).toISOString(), ...until, ...more };
}

const sent = () => gateway.to(route).map((a) => a.body);
const banner = () => find(".bar-notice").textContent;
const radio = (value: string) => find<HTMLInputElement>(`input[type=radio][value="${value}"]`);
const isOff = (name: string) => button(name).getAttribute("aria-disabled") === "true";
const tick = (ms: number) => act(() => void (now.value += ms));

async function take(value: string) {
  radio(value).click();
  await pass();
}

it("tells the mode of a session and switches it in two steps, with the keys", async () => {
  await show(call);
  expect(button("mode").textContent).toBe("Mode: default");
  await key("m");
  expect(document.activeElement).toBe(radio("default"));
  await take("acceptEdits");
  await press("mode-send");
  expect(sent()).toEqual([]); // not armed yet
  await arm();
  await press("mode-send");
  expect(sent()).toEqual([{ agent: "key_1", session: "ses_1", mode: "acceptEdits" }]);
  expect(has(".mode-panel")).toBe(false);
  expect(document.activeElement).toBe(button("mode"));
  expect(button("mode").textContent).toBe("Mode: accept edits");
  expect(card().querySelector(".where .chip")?.textContent).toBe("accept edits");
});

it("bypasses only for a time, after a second click", async () => {
  await show(call);
  await press("mode");
  expect(radio("3600").closest("fieldset")?.disabled).toBe(true);
  await take("bypassPermissions");
  expect(radio("900").checked).toBe(true);
  await arm();
  expect(sent()).toEqual([]);
  expect(button("mode-send").textContent).toBe("Bypass for 15 min");
  await take("14400");
  expect(isOff("mode-send")).toBe(true); // something changed: it arms anew
  await arm();
  await press("mode-send");
  expect(sent()).toEqual([{ agent: "key_1", session: "ses_1", mode: "bypassPermissions", for_seconds: 14400 }]);
});

it("sends nothing when it is closed, and no letter in it decides on the card", async () => {
  await show(call);
  await arm();
  await press("mode");
  await take("bypassPermissions");
  await arm();
  for (const letter of ["a", "d", "j"]) await key(letter, radio("bypassPermissions"));
  await key("Escape", radio("bypassPermissions"));
  expect(has(".mode-panel")).toBe(false);
  await press("mode");
  expect(radio("default").checked).toBe(true); // what was not sent is forgotten
  await act(() => void document.body.dispatchEvent(new Event("pointerdown", { bubbles: true })));
  expect(has(".mode-panel")).toBe(false);
  expect(gateway.asked.filter((a) => a.method === "POST")).toEqual([]);
});

it("says why the mode was not changed, as text, and is off without a connection", async () => {
  gateway.answers[route] = () => refusal(404, "not_found", { message: "no session ⟨U+202E⟩" });
  await show(call);
  await press("mode");
  await take("plan");
  await arm();
  await press("mode-send");
  expect(find(".mode-panel .is-wrong").textContent).toBe("Mode not changed: no session ⟨U+202E⟩");
  expect(find(".mode-panel .is-wrong .esc").textContent).toBe("⟨U+202E⟩");
  await act(() => void (link.value = "lost"));
  expect(isOff("mode-send")).toBe(true);
});

it("keeps a panel open in its session when the first call of it goes", async () => {
  const other = aCall();
  await show(call, other);
  await press("mode");
  await take("plan");
  await act(() => {
    select(other.id);
    put(settled(call));
  });
  expect(has(`[data-settled="${call.id}"]`)).toBe(false);
  expect(radio("plan").checked).toBe(true);
});

it("takes the host's word only where it tightens", async () => {
  const of = (id: string, mode: string) => aCall({ session: { ...inSession(id), mode } });
  await show(of("one", "plan"), of("two", "bypassPermissions"));
  expect([...document.querySelectorAll(".mode")].map((b) => b.textContent)).toEqual(["Mode: plan", "Mode: default"]);
  expect(has(".bar-notice .notice")).toBe(false);
  await press("mode");
  expect(find(".mode-panel .hint").textContent).toContain("in plan mode whatever is chosen here");
  await arm();
  await press("remember");
  expect(has('input[value="bypassPermissions"][name="scope"]')).toBe(false);
});

it("tells in the bar who chose what, where, until when, and counts down to its end", async () => {
  await show(call);
  await act(() => putMode({ ...call, mode: aMode("bypassPermissions", 872) }));
  expect(find(".notice.modes").className).toContain("is-strong");
  expect(banner()).toMatch(/^Bypass in checkout-api, 14:32 leftClaude Code on ws-14, chosen by Jon Hale, until [\d:]+Back to default$/);
  await tick(871_000);
  expect(banner()).toContain("0:01 left");
  await tick(1_000);
  expect(banner()).toBe("");
  expect(button("mode").textContent).toBe("Mode: default");
});

it("goes back to default with one click, or says why not", async () => {
  await show(call);
  await act(() => {
    status.value = { version: "dev", you: jon, seq: 1 };
    putMode({ ...call, mode: aMode("acceptEdits") });
  });
  expect(banner()).toContain("checkout-api accepts edits");
  expect(banner()).toContain("chosen by you, until the session ends");
  const works = gateway.answers[route]!;
  gateway.answers[route] = () => "no answer";
  await press("mode-default");
  expect(banner()).toContain("Mode not changed: the gateway does not answer");
  gateway.answers[route] = works;
  await press("mode-default");
  expect(sent()).toHaveLength(2);
  expect(sent()[1]).toEqual({ agent: "key_1", session: "ses_1", mode: "default" });
  expect(banner()).toBe("");
});

it("lists several sessions, the one that asks least first, each with its way back", async () => {
  const evil = "⟨U+202E⟩";
  await show(call);
  await act(() => {
    putMode({ agent: "key_1", session: inSession(`a${evil}`), mode: aMode("plan") });
    putMode({ agent: "key_1", session: inSession("same"), mode: aMode("bypassPermissions", 60) });
    putMode({ agent: "key_2", session: inSession("same"), mode: aMode("acceptEdits") });
  });
  expect(banner()?.startsWith(`3 sessions not in defaultsame bypass, same accept edits, a${evil} planShow`)).toBe(true);
  const lines = [...document.querySelectorAll(".modes-menu li")];
  expect(lines.map((li) => li.querySelector(".modes-what")?.textContent)).toEqual([
    "Bypass in same, 1:00 left", "same accepts edits", `a${evil} is in plan mode`,
  ]);
  expect(lines[2]!.querySelectorAll(".esc").length).toBe(2);
  lines[1]!.querySelector<HTMLElement>('[data-act="mode-default"]')!.click();
  await pass();
  expect(sent()).toEqual([{ agent: "key_2", session: "same", mode: "default" }]);
});

it("follows what others choose, and an older answer changes nothing", async () => {
  await show(call);
  const stop = follow();
  await pass(20);
  const since = call.created;
  gateway.sessions = [{ agent: "key_1", session: call.session, since, mode: aMode("acceptEdits") }];
  gateway.streams[0]!.event({ seq: 8, kind: "mode.chosen", body: { agent: "key_1", session: "ses_1" } });
  await pass(20);
  expect(banner()).toContain("accepts edits");
  await pass(1_000);
  gateway.sessions = [{ agent: "key_1", session: call.session, since, mode: aMode("default") }];
  gateway.streams[0]!.event({ seq: 9, kind: "mode.chosen" });
  await pass(20);
  expect(banner()).toBe("");
  await act(() => putMode({ ...call, mode: aMode("acceptEdits", 0, { at: since }) }));
  expect(banner()).toBe("");
  stop();
});

it("reads the modes with the page", async () => {
  gateway.sessions = [{ agent: "key_9", session: inSession("far"), since: call.created, mode: aMode("plan") }];
  await show();
  const stop = follow();
  await pass(20);
  expect(banner()).toContain("far is in plan mode");
  stop();
});

it("allows file edits in the session from the card of one, in two steps", async () => {
  await show(call);
  await arm();
  await press("remember");
  await take("acceptEdits");
  await press("remember-send");
  expect(sent()).toEqual([]); // not armed yet
  expect(button("remember-send").textContent).toContain("Allow file edits in this session");
  await arm();
  await press("remember-send");
  expect(sent()).toEqual([{ agent: "key_1", session: "ses_1", mode: "acceptEdits" }]);
  expect(gateway.to(`POST /v1/calls/${call.id}/decision`)).toEqual([]); // it is judged, not decided
  expect(newsText()).toContain("Mode of the session changed");
  expect(has('[data-act="allow"]')).toBe(true);
  await arm();
  await press("remember");
  expect(has('input[value="acceptEdits"]')).toBe(false); // they are allowed already
  expect(button("remember-send").textContent).toContain("Allow once"); // the choice was for once
});

it("allows all in the session for a time, from any card", async () => {
  await show(aCall());
  await arm();
  await press("remember");
  expect(has('input[value="acceptEdits"]')).toBe(false); // not a file edit
  await take("bypassPermissions");
  await take("3600");
  await arm();
  expect(button("remember-send").textContent).toContain("Allow all in this session for 1 h");
  await press("remember-send");
  expect(sent()).toEqual([{ agent: "key_1", session: "ses_1", mode: "bypassPermissions", for_seconds: 3600 }]);
});

it("tells on the card why the mode was not changed, and keeps the step", async () => {
  gateway.answers[route] = () => refusal(400, "invalid");
  await show(call);
  await arm();
  await press("remember");
  await take("acceptEdits");
  await arm();
  await press("remember-send");
  expect(newsText()).toContain("Mode not changed: refused: invalid");
  expect(radio("acceptEdits").checked).toBe(true);
});

it("says which agent asked too much, and lets it ask again", async () => {
  const all = { version: "1", you: jon, seq: 1 };
  gateway.answers["POST /v1/agents/key_x/unmute"] = () => ({ body: all });
  await show(call);
  await act(() => void (status.value = { ...all, muted: [{ agent: "key_x", name: "Codex", at: call.created }] }));
  expect(banner()).toContain("Codex asked too much");
  await press("unmute");
  expect(gateway.to("POST /v1/agents/key_x/unmute")).toHaveLength(1);
  expect(has('[data-act="unmute"]')).toBe(false);
});

it("stops a session, and says why it did not", async () => {
  gateway.answers["POST /v1/sessions/interrupt"] = () => refusal(503, "unavailable");
  await show(call);
  await press("mode");
  await press("interrupt");
  expect(gateway.to("POST /v1/sessions/interrupt")).toEqual([]); // not armed yet
  await arm();
  await press("interrupt");
  expect(find(".mode-panel [role=status]").textContent).toContain("Not stopped");
  gateway.answers["POST /v1/sessions/interrupt"] = () => ({ body: { agent: "key_1", session: call.session, since: call.created } });
  await press("interrupt");
  expect(gateway.to("POST /v1/sessions/interrupt").map((a) => a.body)).toEqual(Array(2).fill({ agent: "key_1", session: "ses_1" }));
  expect(has(".mode-panel")).toBe(false);
});
