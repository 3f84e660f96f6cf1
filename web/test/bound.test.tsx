import { render } from "@testing-library/preact";
import { expect, it } from "vitest";
import type { Call } from "../src/api.gen";
import { Why } from "../src/call/why";
import { aCall } from "./calls";

function lines(about: Partial<Call>) {
  render(<Why call={aCall(about)} />);
  return [...document.querySelectorAll(".reason")].map((e) => e.textContent);
}

const project = "/home/mira/checkout-api";
const sum = "0123456789abcdef".repeat(4);

it("says which files an allow is for", () => {
  const files = [
    { path: "x.sh", real: `${project}/x.sh`, sum },
    { path: "a.txt", real: `${project}/a.txt`, sum, writes: true },
    { path: "new", real: `${project}/new` },
  ];
  expect(lines({ bound: { files } })).toEqual([
    "An allow is for x.sh as it is now. If it changes before it runs, the agent has to ask again.SHA-256 0123456789abcdef",
    "An allow is for a change of a.txt as it is now. If it changes before, the agent has to ask again.SHA-256 0123456789abcdef",
    "An allow is for now, while there is no new. If it appears, the agent has to ask again.",
  ]);
});

it("says that content is not bound", () => {
  expect(lines({ bound: { unbound: "code" } })[0]).toContain("Content not bound It runs code that is not in one file");
});

it("says which server an allow is for", () => {
  const server = { name: "fs", source: `${project}/.mcp.json`, launch: "npx fs /data", sum };
  expect(lines({ bound: { server } })[0]).toContain("the server fs as it is set up now: npx fs /data");
});

it("says that nobody waits, while that matters", () => {
  const left = new Date(Date.now()).toISOString();
  expect(lines({ left })[0]).toContain("Nobody waits for the answer since");
  expect(lines({ parked: true }).at(-1)).toContain("Nobody waits for the answer at present");
  document.body.innerHTML = "";
  expect(lines({ parked: true, state: "denied" })).toEqual([]);
});
