import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { loggedIn } from "../src/api";
import { past } from "../src/history/store";
import { calls, order, waiting } from "../src/queue/store";
import { go, link, status } from "../src/state";
import { follow } from "../src/sync";
import { aCall, settled } from "./calls";
import { Gateway, refusal } from "./gateway";

let gateway: Gateway;
let stop: () => void;
const pass = (ms = 0) => vi.advanceTimersByTimeAsync(ms);

/** Starts and waits until the page is live. */
async function start() {
  stop = follow();
  await pass();
  expect(link.value).toBe("live");
}

beforeEach(() => {
  gateway = new Gateway();
});
afterEach(() => stop());

it("loads what waits in several parts, oldest first, and listens behind the first", async () => {
  const [a, b, c] = [aCall(), aCall(), aCall()];
  gateway.answers["GET /v1/calls"] = ({ query }) => {
    if (query.get("state") === "settled") return { body: { calls: [], more: false, seq: 20 } };
    return query.has("after") ? { body: { calls: [c], more: false, seq: 21 } } : { body: { calls: [a, b], more: true, seq: 19 } };
  };
  await start();
  expect(order.value).toEqual([a.id, b.id]); // the first part is shown before the rest is asked for
  await pass(20);
  expect(order.value).toEqual([a.id, b.id, c.id]);
  expect(gateway.to("GET /v1/calls").at(-1)?.query.get("after")).toBe(b.id);
  expect(gateway.to("GET /v1/events")[0]?.query.get("after")).toBe("19");
});

it("has the first card in the first answer, and asks for another that a link names beside it", async () => {
  const [a, b] = [aCall(), aCall()];
  gateway.calls = [a, b];
  gateway.answers["GET /v1/calls"] = ({ query }) => ({ body: { calls: query.get("state") === "settled" ? [] : [a, { ...b, brief: true, digest: "" }], more: false, seq: 7 } });
  await start();
  expect(gateway.to("GET /v1/calls")[0]?.query.get("whole")).toBe("1");
  expect(gateway.to(`GET /v1/calls/${a.id}`)).toHaveLength(0);
  stop();
  go("/", b.id);
  await start();
  expect(gateway.to(`GET /v1/calls/${b.id}`)).toHaveLength(1);
  expect(calls.value.get(b.id)?.brief).toBeUndefined();
});

it("looks at a call once for many events", async () => {
  await start();
  const call = aCall();
  gateway.calls.push(call);
  gateway.streams[0]!.event(...["call.proposed", "call.judged", "batch.opened"].map((kind, i) => ({ seq: 8 + i, kind, call: call.id })));
  await pass(20);
  expect(gateway.to(`GET /v1/calls/${call.id}`)).toHaveLength(1);
  expect(waiting.value).toBe(1);
});

it("lists calls in the order of their events, whichever answer comes first", async () => {
  await start();
  const [a, b] = [aCall(), aCall()];
  gateway.answers[`GET /v1/calls/${a.id}`] = () => new Promise((done) => setTimeout(() => done({ body: a }), 500));
  gateway.answers[`GET /v1/calls/${b.id}`] = () => ({ body: b });
  gateway.streams[0]!.event({ seq: 8, kind: "call.proposed", call: a.id });
  gateway.streams[0]!.event({ seq: 9, kind: "call.proposed", call: b.id });
  await pass(1_000);
  expect(order.value).toEqual([a.id, b.id]);
});

it("comes back from the last event it saw, sooner first and later more slowly", async () => {
  await start();
  gateway.streams[0]!.event({ seq: 12, kind: "key.created" });
  await pass();
  gateway.answers["GET /v1/events"] = () => "no answer";
  gateway.streams[0]!.end();
  await pass();
  expect(link.value).toBe("lost");

  const tries = () => gateway.to("GET /v1/events").length;
  await pass(300);
  expect(tries()).toBe(2);
  const before = tries();
  await pass(300);
  const early = tries() - before;
  await pass(60_000);
  const many = tries();
  await pass(10_000);
  expect(early).toBeLessThanOrEqual(2);
  expect(tries() - many).toBeGreaterThanOrEqual(2); // it never gives up
  expect(tries() - many).toBeLessThanOrEqual(5); // nor hammers

  delete gateway.answers["GET /v1/events"];
  await pass(5_000);
  expect(link.value).toBe("live");
  expect(new Set(gateway.to("GET /v1/events").slice(1).map((a) => a.query.get("after")))).toEqual(new Set(["12"]));
  expect(gateway.to("GET /v1/calls")).toHaveLength(2); // the lists were not read again
});

it("tries at once when the network is back", async () => {
  await start();
  gateway.answers["GET /v1/events"] = () => "no answer";
  gateway.streams[0]!.end();
  await pass(60_000);
  delete gateway.answers["GET /v1/events"];
  window.dispatchEvent(new Event("online"));
  await pass();
  expect(link.value).toBe("live");
});

it("reads the lists anew when the gateway cannot tell what was missed", async () => {
  const [gone, kept] = [aCall(), aCall()];
  gateway.calls = [gone, kept];
  await start();
  const fresh = aCall();
  gateway.calls = [settled(gone), kept, fresh];
  gateway.seq = 3;
  gateway.streams[0]!.write("event: resync\ndata: {}\n\n");
  await pass(400);
  expect(gateway.to("GET /v1/events").at(-1)?.query.get("after")).toBe("3");
  expect([...calls.value.values()].filter((c) => c.state === "pending").map((c) => c.id)).toEqual([kept.id, fresh.id]);
  expect(past.value.map((c) => c.id)).toEqual([gone.id]);
});

it("ends at the login screen when the session is over", async () => {
  await start();
  gateway.answers["GET /v1/events"] = () => refusal(401, "unauthenticated");
  gateway.streams[0]!.end();
  await pass(1_000);
  expect(loggedIn.value).toBe(false);
  const asked = gateway.asked.length;
  await pass(60_000);
  expect(gateway.asked).toHaveLength(asked);
});

it("keeps trying for a call that it could not look at", async () => {
  await start();
  const call = aCall();
  gateway.answers[`GET /v1/calls/${call.id}`] = () => "no answer";
  gateway.streams[0]!.event({ seq: 8, kind: "call.proposed", call: call.id });
  await pass(3_000);
  expect(waiting.value).toBe(0);
  gateway.answers[`GET /v1/calls/${call.id}`] = () => ({ body: call });
  await pass(2_000);
  expect(waiting.value).toBe(1);
});

it("drops a call that the gateway does not know, and moves settled ones to the history", async () => {
  const [a, b] = [aCall(), aCall()];
  gateway.calls = [a, b];
  await start();
  gateway.calls = [settled(b)];
  gateway.streams[0]!.event({ seq: 8, kind: "call.decided", call: a.id });
  gateway.streams[0]!.event({ seq: 9, kind: "call.decided", call: b.id });
  await pass(20);
  expect(waiting.value).toBe(0);
  expect(past.value.map((c) => c.id)).toEqual([b.id]);
});

it("asks now and then whether something is wrong", async () => {
  await start();
  gateway.answers["GET /v1/status"] = () => ({ body: { version: "dev", you: { kind: "person" }, seq: 8, notice: "policy.yaml:14 is broken" } });
  for (let i = 0; i < 3; i++) {
    gateway.streams[0]!.write(": beat\n\n");
    await pass(15_000);
  }
  expect(status.value?.notice).toBe("policy.yaml:14 is broken");
});

it("reads the status when everything is stopped or resumed", async () => {
  await start();
  const by = { kind: "person", name: "Jon Hale" };
  gateway.answers["GET /v1/status"] = () => ({ body: { version: "dev", you: by, seq: 8, paused: { by, at: "2026-01-02T03:04:05Z" } } });
  gateway.streams[0]!.event({ seq: 8, kind: "gate.paused" });
  await pass();
  expect(status.value?.paused?.by.name).toBe("Jon Hale");
});
