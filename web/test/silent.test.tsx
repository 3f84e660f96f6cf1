import { beforeEach, expect, it, vi } from "vitest";
import { watchLook } from "../src/push/silent";
import { status } from "../src/state";
import type { Status } from "../src/api.gen";
import { aCall } from "./calls";
import { Gateway } from "./gateway";
import { find, has, pass, press, show } from "./page";

const state = (more: Partial<Status>): Status => ({ version: "test", you: { kind: "person", id: "k" }, seq: 1, ...more });

let gateway: Gateway;
beforeEach(() => {
  gateway = new Gateway();
});

it("says that nobody is told, until that is dismissed", async () => {
  await show(aCall());
  expect(has("[data-silent]")).toBe(false);
  status.value = state({ silent: true });
  await pass();
  expect(find("[data-silent]").textContent).toContain("Calls show on this page only.");
  await press("dismiss-silent");
  expect(has("[data-silent]")).toBe(false);
  expect(localStorage.getItem("gatelatch.silent")).toBe("ok");
});

it("shows that a session is in review", async () => {
  await show(aCall({ id: "c1" }), aCall({ id: "c2" }));
  expect(find(".session-head").textContent).toContain("in review: 2");
});

it("tells a gateway that wants to know that somebody looks", async () => {
  gateway.answers["POST /v1/look"] = () => ({ body: {} });
  const focus = vi.spyOn(document, "hasFocus").mockReturnValue(true);
  const stop = watchLook();
  status.value = state({});
  await pass(25_000);
  expect(gateway.to("POST /v1/look")).toHaveLength(0);
  status.value = state({ look: true });
  await pass(20_000);
  expect(gateway.to("POST /v1/look")).toHaveLength(1);
  focus.mockReturnValue(false);
  await pass(60_000);
  expect(gateway.to("POST /v1/look")).toHaveLength(1);
  stop();
});
