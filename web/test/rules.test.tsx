import { beforeEach, expect, it } from "vitest";
import type { Rule, Suggestions, TriedRule } from "../src/api.gen";
import { go, now } from "../src/state";
import { Gateway, refusal } from "./gateway";
import { button, find, has, pass, press, show } from "./page";

let gateway: Gateway;
let rules: Rule[];
let found: Suggestions;
let trial: TriedRule;

const aRule = (about: Partial<Rule> = {}): Rule => ({ effect: "allow", text: "Bash(git status)", layer: "user", source: "/h/policy.yaml:20", used: 0, ...about });

beforeEach(() => {
  now.value = Date.now();
  gateway = new Gateway();
  rules = [
    aRule({ used: 212, last_used: new Date(Date.now() - 60_000).toISOString() }),
    aRule({ effect: "deny", text: "Bash(sudo:*)", layer: "machine", why: "Agents do not become root." }),
    aRule({ effect: "ask", text: "Bash(npm publish:*)", layer: "project", project: "/home/mira/checkout-api" }),
  ];
  found = {
    work: { ready: true, done: 9 }, asks: 5, calls: 9,
    rules: [{ match: "Bash(npm test)", call: "cal_7", saves: 4, also: "only this command", examples: ["Bash npm test"] }],
  };
  trial = {
    work: { ready: true, done: 9 }, effect: "allow", match: "Bash(npm test)", offers: [], digest: "d1", from: 3, safe: true,
    diff: [{ op: " ", old: 1, new: 1, text: "allow:" }, { op: "+", new: 2, text: "  - Bash(npm test)" }],
    backtest: { calls: 9, asks_before: 5, asks_after: 1, asks_that_vanish: 4, new_asks: 0, refused_but_allowed: [], allowed_but_denied: [], denied_but_allowed: [] },
  };
  gateway.answers["GET /v1/grants"] = () => ({ body: { grants: [] } });
  gateway.answers["GET /v1/rules"] = () => ({ body: { rules, revision: 3 } });
  gateway.answers["POST /v1/rules/suggest"] = () => ({ body: found });
  gateway.answers["POST /v1/rules/try"] = () => ({ body: trial });
  gateway.answers["POST /v1/rules"] = () => ({ body: { revision: 4, text: "", by: { kind: "person" } } });
});

async function open() {
  go("/rules");
  await show();
  await pass();
}

const listed = () => [...document.querySelectorAll<HTMLElement>("tr[data-rule]")].map((e) => e.dataset["rule"]);

async function type(field: string, text: string): Promise<void> {
  const input = find<HTMLInputElement>(`[data-field="${field}"]`);
  input.value = text;
  input.dispatchEvent(new Event("input", { bubbles: true }));
  await pass();
}

it("lists rules by layer with their use, and narrows them by words and kind", async () => {
  await open();
  expect(listed()).toEqual(["Bash(sudo:*)", "Bash(git status)", "Bash(npm publish:*)"]);
  expect(find('[data-rule="Bash(git status)"]').textContent).toBe("allowBash(git status)policy.yaml:202121 min ago");
  await type("filter", "root");
  expect(listed()).toEqual(["Bash(sudo:*)"]);
  await type("filter", "");
  find<HTMLInputElement>('input[value="unused"]').click();
  await pass();
  expect(listed()).toEqual(["Bash(sudo:*)", "Bash(npm publish:*)"]);
});

it("says what would happen to a call, with the part that was asked about and every layer", async () => {
  gateway.answers["POST /v1/rules/explain"] = () => ({
    body: {
      verdict: { effect: "ask", reasons: [{ effect: "ask", layer: "user", rule: "Bash(git push:*)", message: "Pushing is asked" }] },
      card: { icon: "term", says: "Runs git", subject: "git push -f", blocks: [{ kind: "command", segments: [{ text: "git push " }, { text: "-f", asked: true }] }] },
      tool: "Bash",
      layers: [{ layer: "machine" }, { layer: "user", effect: "ask", reasons: [{ effect: "ask", layer: "user", rule: "Bash(git push:*)", message: "Pushing is asked" }] }],
    },
  });
  await open();
  await type("explain-input", "git push -f");
  await press("explain");
  expect(gateway.to("POST /v1/rules/explain")[0]!.body).toEqual({ tool: "Bash", input: "git push -f", project: "" });
  expect(find(".explain-said mark").textContent).toBe("-f");
  expect(find(".explain-said .trail").textContent).toBe("MachinesilentYoursask Bash(git push:*) Resultask");
});

it("applies a suggestion only after its change and trial were shown and ticked off", async () => {
  trial.work.ready = false;
  const { backtest, ...begun } = trial;
  gateway.answers["POST /v1/rules/try"] = () => ({ body: trial.work.ready ? trial : { ...begun, safe: false } });
  await open();
  await press("try");
  expect(find(".change .is-add").textContent).toContain("- Bash(npm test)");
  expect(button("add-rule").getAttribute("aria-disabled")).toBe("true");
  trial.work.ready = true;
  await pass(500);
  expect(find(".tried").textContent).toContain(`${backtest!.asks_that_vanish} of 5 questions would not have been asked`);
  await press("add-rule");
  expect(gateway.to("POST /v1/rules")).toHaveLength(0);
  find<HTMLInputElement>('[data-field="seen"]').click();
  await pass();
  await press("add-rule");
  expect(gateway.to("POST /v1/rules").map((a) => a.body)).toEqual([{ effect: "allow", match: "Bash(npm test)", call: "cal_7", digest: "d1" }]);
  expect(find(".applied").textContent).toBe("Bash(npm test) is in force, revision 4.");
  expect(has("[data-suggested]")).toBe(false);
});

it("has no way to apply what would allow something refused", async () => {
  trial.safe = false;
  trial.backtest!.refused_but_allowed = [{ call: "cal_9", says: "Bash npm test" }];
  await open();
  await press("try");
  expect(find(".tried .is-bad").textContent).toContain("It would allow 1 call that a person refused:");
  expect(has('[data-field="seen"]')).toBe(false);
  await press("add-rule");
  expect(gateway.to("POST /v1/rules")).toHaveLength(0);
});

it("says why a rule was refused", async () => {
  gateway.answers["POST /v1/rules/try"] = () => refusal(400, "invalid");
  await open();
  await press("try");
  expect(find(".trial").textContent).toContain("No rule can be made of it here: refused: invalid");
});
