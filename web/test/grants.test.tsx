import { act } from "@testing-library/preact";
import { beforeEach, expect, it } from "vitest";
import type { Grant } from "../src/api.gen";
import { go, link, now } from "../src/state";
import { follow } from "../src/sync";
import { Gateway, refusal } from "./gateway";
import { find, has, pass, show } from "./page";

let gateway: Gateway;
let list: Grant[];
const route = "GET /v1/grants";

function aGrant(about: Partial<Grant> = {}): Grant {
  return {
    id: "gra_1", match: "Bash(git push)", scope: "session", agent: "key_1", session: "ses_1", call: "cal_1",
    by: { kind: "person", name: "Jon Hale" }, at: new Date(Date.now()).toISOString(), used: 0, good: true, ...about,
  };
}

beforeEach(() => {
  now.value = Date.now();
  gateway = new Gateway();
  list = [];
  gateway.answers[route] = () => ({ body: { grants: list } });
  gateway.answers["GET /v1/rules"] = () => ({ body: { rules: [], revision: 1 } });
  gateway.answers["POST /v1/rules/suggest"] = () => ({ body: { work: { ready: true, done: 0 }, asks: 0, calls: 0, rules: [] } });
});

async function open() {
  go("/rules");
  const page = await show();
  await pass();
  return page;
}

const row = (id: string) => find(`tr[data-grant="${id}"]`);
const cells = (id: string) => [...row(id).querySelectorAll("td")].map((td) => td.textContent);
const revoke = async (id: string) => {
  row(id).querySelector<HTMLElement>('[data-act="revoke"]')!.click();
  await pass();
};

it("lists what holds: what, where, by whom, how long, last used", async () => {
  const ago = new Date(Date.now() - 120_000).toISOString();
  list = [
    aGrant({ id: "gra_a", match: "Bash(echo ⟨U+202E⟩)" }),
    aGrant({ id: "gra_b", scope: "project", project: "/home/mira/checkout-api", uses: 3, used: 2, last_used: ago }),
    aGrant({ id: "gra_c", scope: "always", until: "2030-05-06T07:08:09Z" }),
    aGrant({ id: "gra_d", good: false }),
  ];
  await open();
  expect(cells("gra_a").join("|")).toMatch(/^allow\|Bash\(echo ⟨U\+202E⟩\)Jon Hale, [\d:]+\|One session ses_1until the session ends\|0\|never\|Revoke$/);
  expect(row("gra_a").querySelector(".esc")?.textContent).toBe("⟨U+202E⟩");
  expect(cells("gra_b").slice(2)).toEqual(["One project checkout-apiuntil you revoke it, 1 use left", "2", "2 min ago", "Revoke"]);
  expect(cells("gra_c")[2]).toBe("Everywhere agent key_1until 6 May 2030");
  expect(has('tr[data-grant="gra_d"]')).toBe(false); // it no longer allows anything
});

it("says so when nothing is remembered", async () => {
  await open();
  expect(find(".page").textContent).toContain("Nothing is remembered.");
});

it("revokes with one click, at once, and nothing moves", async () => {
  list = [aGrant({ id: "gra_a" }), aGrant({ id: "gra_b" })];
  const at = new Date(Date.now()).toISOString();
  gateway.answers["POST /v1/grants/gra_a/revoke"] = () => {
    list = list.slice(1);
    return { body: aGrant({ id: "gra_a", revoked: at, good: false }) };
  };
  await open();
  await revoke("gra_a");
  expect(gateway.to("POST /v1/grants/gra_a/revoke")).toHaveLength(1);
  expect(row("gra_a").textContent).toContain("Revoked");
  expect(row("gra_a").querySelector('[data-act="revoke"]')).toBeNull();
  expect(row("gra_b").querySelector('[data-act="revoke"]')).not.toBeNull();
  go("/");
  await pass();
  go("/rules");
  await pass();
  expect(has('tr[data-grant="gra_a"]')).toBe(false);
});

it("says when it was not revoked, and can be tried again", async () => {
  list = [aGrant()];
  gateway.answers["POST /v1/grants/gra_1/revoke"] = () => refusal(500, "internal");
  await open();
  await revoke("gra_1");
  expect(find(".page-head").textContent).toContain("Not revoked: refused: internal");
  await revoke("gra_1");
  expect(gateway.to("POST /v1/grants/gra_1/revoke")).toHaveLength(2);
});

it("is off without a connection", async () => {
  list = [aGrant()];
  await open();
  await act(() => void (link.value = "lost"));
  await revoke("gra_1");
  expect(gateway.to("POST /v1/grants/gra_1/revoke")).toHaveLength(0);
});

it("follows what others remember, revoke and use", async () => {
  await open();
  const stop = follow();
  await pass(20);
  list = [aGrant()];
  gateway.streams[0]!.event({ seq: 8, kind: "grant.made", call: "cal_1" });
  await pass(20);
  expect(row("gra_1").textContent).toContain("never");
  list = [aGrant({ used: 1, last_used: new Date(Date.now()).toISOString() })];
  gateway.streams[0]!.event({ seq: 9, kind: "call.judged", call: "cal_2" });
  await pass(20);
  expect(row("gra_1").textContent).toContain("0 s ago");
  list = [];
  gateway.streams[0]!.event({ seq: 10, kind: "grant.revoked", call: "cal_1" });
  await pass(20);
  expect(has('tr[data-grant="gra_1"]')).toBe(false);
  stop();
});
