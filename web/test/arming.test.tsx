import { act, render } from "@testing-library/preact";
import { useRef } from "preact/hooks";
import { beforeAll, beforeEach, expect, it } from "vitest";
import { useArming } from "../src/call/arming";
import { put } from "../src/queue/store";
import { link } from "../src/state";
import { watchKeys } from "../src/ui/keys";
import { aCall } from "./calls";
import { Gateway } from "./gateway";
import { arm, button, card, find, key, pass, press, show } from "./page";

let gateway: Gateway;
beforeAll(watchKeys);
beforeEach(() => {
  gateway = new Gateway();
});

const armed = () => button("allow").getAttribute("aria-disabled") !== "true";
const decisions = () => gateway.asked.filter((a) => a.path.endsWith("/decision"));

it("does nothing for half a second after a card came into view, then decides", async () => {
  await show(aCall());
  expect(armed()).toBe(false);
  expect(button("deny").className).toContain("is-arming");
  await press("allow");
  await key("a");
  await pass(400);
  await press("deny");
  expect(decisions()).toHaveLength(0);

  await pass(100);
  expect(armed()).toBe(true);
  expect(button("allow").className).not.toContain("is-arming");
  await press("allow");
  expect(decisions()).toHaveLength(1);
});

it("disarms at once when another call takes the place", async () => {
  const [a, b] = [aCall(), aCall()];
  await show(a, b);
  await arm();
  await key("j");
  expect(card().dataset["call"]).toBe(b.id);
  expect(armed()).toBe(false);
  await key("a");
  expect(decisions()).toHaveLength(0);
  await arm();
  await key("a");
  expect(decisions()[0]?.path).toBe(`/v1/calls/${b.id}/decision`);
});

it("is not armed for even one frame of the next card", async () => {
  const seen: [string, boolean][] = [];
  const Probe = ({ name }: { name: string }) => {
    const ref = useRef<HTMLElement>(null);
    seen.push([name, useArming(name, ref)]);
    return null;
  };
  const { rerender } = render(<Probe name="one" />);
  await arm();
  expect(seen.at(-1)).toEqual(["one", true]);
  rerender(<Probe name="two" />);
  expect(seen.find(([name]) => name === "two")).toEqual(["two", false]);
  await arm();
  expect(seen.at(-1)).toEqual(["two", true]);
});

it("disarms when the call changes under the pointer", async () => {
  const call = aCall();
  await show(call);
  await arm();
  await act(() => put({ ...call, digest: "f".repeat(64) }));
  expect(armed()).toBe(false);
  await arm();
  expect(armed()).toBe(true);
});

it("stays armed when only the time goes on, or another call comes", async () => {
  await show(aCall());
  await arm();
  await act(() => put(aCall()));
  await pass(3_000);
  expect(armed()).toBe(true);
});

it("disarms when the person comes back to the page", async () => {
  await show(aCall());
  await arm();
  await act(() => void window.dispatchEvent(new Event("focus")));
  expect(armed()).toBe(false);
});

it("is off without a connection", async () => {
  await show(aCall());
  await arm();
  await act(() => void (link.value = "lost"));
  expect(armed()).toBe(false);
  await press("allow");
  expect(decisions()).toHaveLength(0);
  expect(find(".decide-status").textContent).toContain("No connection");
});

it("takes no key for a decision while something is typed, held down, or meant for the browser", async () => {
  await show(aCall());
  await arm();
  await key("a", find("[data-field=filter]"));
  await key("d", document.body, { ctrlKey: true });
  await key("a", document.body, { repeat: true });
  expect(decisions()).toHaveLength(0);
});
