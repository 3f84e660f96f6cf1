import { render } from "@testing-library/preact";
import { expect, it } from "vitest";
import type { Call } from "../src/api.gen";
import { Why } from "../src/call/why";
import { aCall } from "./calls";

function why(about: Partial<Call>) {
  render(<Why call={aCall(about)} />);
  return [...document.querySelectorAll(".reason")].map((e) => e.textContent);
}

it("names no layer where no rule speaks", () => {
  const reasons = [{ effect: "ask", layer: "default", message: "no rule covers this" }];
  expect(why({ verdict: { effect: "ask", reasons } })).toEqual(["Asked because no rule covers this"]);
});

it("names the rule and where it is written", () => {
  const reasons = [{ effect: "ask", layer: "user", rule: "Bash(rm:*)", source: "policy.yaml:4", message: "it deletes" }];
  expect(why({ verdict: { effect: "ask", reasons } })).toEqual(["Asked because it deletesBash(rm:*) · user layer · policy.yaml:4"]);
});

it("names the layer of a reason that a hook gave", () => {
  const reasons = [{ effect: "ask", layer: "hook", message: "ask a person" }];
  expect(why({ verdict: { effect: "ask", reasons } })[0]).toContain("hook layer");
});

it("says that a hook replaced the input, also where nothing else is said", () => {
  expect(why({ replaced: true })).toEqual(["A local hook replaced the agent’s input; this is what would run."]);
});
