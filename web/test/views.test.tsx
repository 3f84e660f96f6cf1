import { beforeEach, expect, it, vi } from "vitest";
import { scale } from "../src/insight/chart";
import { watchArrivals, watchIcon } from "../src/push/announce";
import { groups, put, putAll, tellNews } from "../src/queue/store";
import { cut, topOf, wide } from "../src/queue/window";
import { go, now } from "../src/state";
import { aCall, inBatch, inSession, settled } from "./calls";
import { Gateway } from "./gateway";
import { find, has, pass, press, show } from "./page";

let gateway: Gateway;
beforeEach(() => {
  now.value = Date.now();
  gateway = new Gateway();
  gateway.answers["GET /v1/history/facets"] = () => ({ body: { tools: ["Bash", "Edit"], agents: [], sessions: [] } });
  gateway.answers["GET /v1/audit"] = () => ({ body: { checked: 48_211, seq: 48_211, at: new Date(Date.now()).toISOString() } });
});

it("draws only what is near, and leaves exact room for the rest", () => {
  putAll(Array.from({ length: 1000 }, (_, i) => aCall({ id: `c${i}`, session: inSession(`s${i % 4}`) })));
  putAll([aCall({ id: "last", batch: inBatch("b", 1), session: inSession("s3") })]);
  const pieces = cut(groups.value, 20_000, 21_000, wide);
  const rows = pieces.flatMap((p) => ("pieces" in p ? p.pieces.filter((q) => "run" in q) : []));
  expect(rows.length).toBeGreaterThan(1000 / wide.row);
  expect(rows.length).toBeLessThan(1000 / wide.row + 5);
  const height = (p: object): number =>
    "gap" in p ? (p.gap as number) : "run" in p ? (p.run as { calls: unknown[]; size: number }).calls.length * wide.row + ((p.run as { size: number }).size > 1 ? wide.batchHead : 0) : 0;
  const total = pieces.reduce((sum, p) => sum + ("pieces" in p ? wide.sessionHead + p.pieces.reduce((s, q) => s + height(q), 0) : p.gap), 0);
  expect(total).toBe(4 * wide.sessionHead + 1001 * wide.row + wide.batchHead);
  expect(topOf(groups.value, "last", wide)).toBe(total - wide.row);
});

it("narrows the history and says how long each decision took", async () => {
  const old = aCall({ created: new Date(Date.now() - 6_000).toISOString() });
  const past = settled(old, "denied");
  gateway.answers["GET /v1/history"] = () => ({ body: { calls: [past], seq: 7 } });
  go("/history");
  await show(past, settled(aCall(), "allowed"));
  expect(document.querySelectorAll("tr[data-settled]")).toHaveLength(2);
  expect(find(`tr[data-settled="${past.id}"] td:last-child`).textContent).toBe("6 s");
  const pick = find<HTMLSelectElement>('select[data-field="outcome"]');
  pick.value = "denied";
  pick.dispatchEvent(new Event("change", { bubbles: true }));
  await pass(10);
  expect([...gateway.to("GET /v1/history")[0]!.query]).toEqual([["outcome", "denied"], ["limit", "50"]]);
  expect(document.querySelectorAll("tr[data-settled]")).toHaveLength(1);
  expect(find(".audit").textContent).toBe("Audit chain whole up to #48,211, checked 0 s ago");
});

it("says aloud when the chain is broken", async () => {
  gateway.answers["GET /v1/audit"] = () => ({ body: { checked: 11, seq: 20, problem: "event 12 was changed" } });
  go("/history");
  await show();
  await pass();
  expect(find('.audit[role="alert"]').textContent).toContain("event 12 was changed");
});

it("tells what people were asked, and makes a rule of it", async () => {
  const day = (date: string, asked: number) => ({ date, calls: asked + 10, asked, rules: 10, half_millis: 2100, quick: 1 });
  gateway.answers["GET /v1/insight"] = () => ({
    body: {
      days: [day("2026-11-14", 5), day("2026-11-15", 2)], calls: 27, asked: 7, rules: 20, half_millis: 2100, work: { ready: true, done: 27 },
      most: [{ what: "npm test", tool: "Bash", asked: 6, allowed: 6, denied: 0, half_millis: 1400, call: "cal_7" }],
    },
  });
  gateway.answers["POST /v1/rules/try"] = () => ({ status: 400, body: { code: "invalid", message: "no" } });
  go("/insight");
  await show();
  await pass();
  expect(find(".lead").textContent).toBe("In 2 days rules answered 20 of 27 calls. You were asked 7 times, and 2.1 s was enough for half of them.");
  expect(document.querySelectorAll("svg.chart[aria-label]")).toHaveLength(4);
  expect(find("[data-most]").textContent).toContain("100 %");
  await press("make-rule");
  expect(gateway.to("POST /v1/rules/try")[0]!.body).toEqual({ effect: "allow", call: "cal_7" });
  expect(has(".trial")).toBe(true);
});

it("scales charts to round numbers", () => {
  expect([0, 1, 3, 7, 11, 42, 99, 101].map(scale)).toEqual([1, 1, 4, 8, 20, 50, 100, 200]);
});

it("announces new calls together, counts in the icon, and tells of rows out of sight", async () => {
  vi.spyOn(Element.prototype, "getBoundingClientRect").mockImplementation(function (this: Element) {
    const top = this.matches("[data-call]") ? 5000 : 0;
    return { top, bottom: top + 56, left: 0, right: 100, width: 100, height: 56, x: 0, y: top, toJSON: () => ({}) };
  });
  document.head.innerHTML = '<link rel="icon" href="/icon.svg">';
  const stops = [watchArrivals(), watchIcon()];
  await show(aCall());
  expect(decodeURIComponent(find<HTMLLinkElement>('link[rel="icon"]').href)).toContain(">1</text>");
  tellNews();
  put(aCall());
  put(aCall());
  await pass(800);
  expect(find("[data-announce]").textContent).toBe("2 new calls. 3 waiting.");
  expect(find('[data-act="show-new"]').getAttribute("aria-label")).toBe("Show 2 new calls");
  stops.forEach((stop) => stop());
});
