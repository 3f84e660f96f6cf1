import { render } from "@testing-library/preact";
import { describe, expect, it } from "vitest";
import { aCall } from "./calls";
import { card, find, show } from "./page";
import { beginning, Foreign, hiddenIn } from "../src/ui/text";

const chips = (root: ParentNode) => [...root.querySelectorAll(".esc")].map((e) => e.textContent);

describe("Foreign", () => {
  it("sets apart every named character, and changes no other", () => {
    const text = "ls ⟨U+202E⟩txt⟨ESC⟩[2K⟨U+27E8⟩ <b>&amp;</b>";
    const { container } = render(<Foreign text={text} />);
    expect(container.textContent).toBe(text);
    expect(chips(container)).toEqual(["⟨U+202E⟩", "⟨ESC⟩", "⟨U+27E8⟩"]);
    expect(container.querySelector("b")).toBeNull();
  });

  it("tells runs of blanks quietly", () => {
    const text = "a⟨·×412⟩b⟨LF⟩c⟨TAB×3⟩d⟨NBSP⟩⟨CR⟩⟨U+200B⟩";
    const { container } = render(<Foreign text={text} />);
    const loud = [...container.querySelectorAll(".esc:not(.is-plain)")].map((e) => e.textContent);
    expect(loud).toEqual(["⟨NBSP⟩", "⟨CR⟩", "⟨U+200B⟩"]);
    expect(hiddenIn(text)).toBe(3);
  });

  it("takes a bracket without an end as it is", () => {
    const { container } = render(<Foreign text="⟨U+20" />);
    expect(container.textContent).toBe("⟨U+20");
    expect(chips(container)).toEqual([]);
  });
});

describe("the card", () => {
  it("marks what was asked about, and hidden characters wherever an agent can write", async () => {
    const evil = "⟨U+202E⟩";
    await show(
      aCall({
        tool: `T${evil}`,
        dir: `/d${evil}`,
        session: { id: "s", name: `N${evil}`, host: `H${evil}`, project: `/p${evil}`, mode: `m${evil}` },
        claim: `c${evil}`,
        context: { prompt: `p${evil}`, said: `s${evil}` },
        card: {
          icon: "term",
          says: `S${evil}`,
          subject: `x${evil}`,
          blocks: [
            { kind: "command", title: `t${evil}`, segments: [{ text: "rm " }, { text: `-rf${evil}`, asked: true }], bytes: 8 },
            { kind: "content", title: `f${evil}`, segments: [{ text: `y${evil}` }], bytes: 4 },
            { kind: "diff", title: `g${evil}`, lines: [{ op: "+", new: 1, text: `z${evil}` }] },
            { kind: "json", segments: [{ text: `j${evil}` }], bytes: 4 },
          ],
        },
        verdict: { effect: "ask", reasons: [{ effect: "ask", layer: "user", rule: `r${evil}`, source: `o${evil}`, message: `m${evil}`, part: `q${evil}` }], errors: [`e${evil}`] },
      }),
    );
    expect(find("mark.asked").textContent).toBe(`-rf${evil}`);
    const bare = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (bare.nextNode()) {
      if (bare.currentNode.textContent?.includes("⟨")) expect(bare.currentNode.parentElement?.className).toBe("esc");
    }
    expect(chips(card()).length).toBeGreaterThanOrEqual(19);
    expect(find(".bound").textContent).toContain("4 hidden or misleading characters");
  });

  it("tells bytes, lines, directory and a digest to compare", async () => {
    const digest = "7f3a91c2".padEnd(60, "0") + "c19e";
    const blocks = [{ kind: "content", title: "a.txt", segments: [{ text: "one\ntwo\n" }], bytes: 8 }];
    await show(aCall({ digest, dir: "/home/mira/shop", card: { icon: "file", says: "Creates a file", subject: "a.txt", blocks } }));
    expect(find(".diff-head").textContent).toBe("a.txt8 bytes, 2 lines");
    expect(find(".bound").textContent).toBe(
      "Exact text: 8 bytes, no hidden characters. Directory /home/mira/shop. A decision is bound to exactly this, digest 7f3a 91c2 … c19e.",
    );
  });

  it("points at the reason: part underlined, then rule, layer and source", async () => {
    const reason = { effect: "ask", layer: "machine", rule: "delete(outside)", source: "policy.yaml:31", message: "../x is outside the project.", part: "../x" };
    await show(aCall({ verdict: { effect: "ask", reasons: [reason] } }));
    expect(find(".reason code.asked").textContent).toBe("../x");
    expect(find(".reason").textContent).toBe("Asked because ../x is outside the project.delete(outside) · machine layer · policy.yaml:31");
  });

  it("sets the agent's words apart, under names that say whose they are", async () => {
    await show(aCall({ claim: "Just a test", context: { prompt: "Fix it", said: "On it" } }));
    const told = [...document.querySelectorAll(".claim")].map((f) => [f.querySelector("b")?.textContent, f.querySelector("blockquote")?.textContent]);
    expect(told).toEqual([["The agent says", "Just a test"], ["You asked", "Fix it"], ["The agent said before", "On it"]]);
  });
});

it("shows the beginning of a long text, with no name of a character cut", () => {
  expect(beginning("short")).toBe("short");
  expect(beginning("ab⟨U+202E⟩cd", 5)).toBe("ab…");
  expect(beginning("ab⟨LF⟩cd", 6)).toBe("ab⟨LF⟩…");
  expect(beginning("a😀bc", 2)).toBe("a…");
});
