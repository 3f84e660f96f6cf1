import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { ask } from "../src/api";
import { calls } from "../src/queue/store";
import { askAhead, firstCalls } from "../src/request";
import { go, link } from "../src/state";
import { follow } from "../src/sync";
import { aCall } from "./calls";
import { Gateway } from "./gateway";

let gateway: Gateway;
let stop = () => {};

beforeEach(() => {
  gateway = new Gateway();
  gateway.calls = [aCall()];
});
afterEach(() => stop());

it("asks for what the first card needs before the page is read, and not again", async () => {
  askAhead();
  expect(gateway.asked.map((a) => a.path)).toEqual(["/v1/calls", "/v1/status"]);
  expect(gateway.asked.every((a) => a.page === "page-half")).toBe(true);
  stop = follow();
  await vi.advanceTimersByTimeAsync(0);
  expect(link.value).toBe("live");
  expect(calls.value.size).toBe(1);
  const lists = () => gateway.to("GET /v1/calls").filter((a) => a.query.get("state") === "pending").length;
  expect(lists()).toBe(1);
  expect(gateway.to("GET /v1/status")).toHaveLength(1);
  await ask("Calls", { query: firstCalls });
  expect(lists()).toBe(2); // an answer is used once
});

it("asks again if what was asked ahead got no answer, or is of another login", async () => {
  gateway.answers["GET /v1/calls"] = () => "no answer";
  askAhead();
  delete gateway.answers["GET /v1/calls"];
  await expect(ask("Calls", { query: firstCalls })).rejects.toThrow("does not answer");
  askAhead();
  localStorage.setItem("gatelatch.page", "new-half");
  await ask("Status", {});
  expect(gateway.to("GET /v1/status").at(-1)?.page).toBe("new-half");
});

it("asks nothing ahead without a login, or where one is under way", () => {
  go("/login");
  askAhead();
  go("/");
  localStorage.clear();
  askAhead();
  expect(gateway.asked).toEqual([]);
});
