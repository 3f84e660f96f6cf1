import { afterEach, expect, it } from "vitest";
import { loggedIn } from "../src/api";
import { aCall, inBatch, settled } from "./calls";
import { arm, button, find, pass, press, show } from "./page";
import { choose, speak, startWords, wanted } from "../src/words/words";
import { en } from "../src/words/en";
import { zh } from "../src/words/zh";

afterEach(() => speak("en"));

it.each([
  [["zh-CN", "en"], "zh"],
  [["fr", "en-US"], "en"],
  [["fr"], "en"],
  [[], "en"],
])("of %j speaks %s", (browser, language) => {
  expect(wanted(browser)).toBe(language);
});

it("keeps the language that was chosen, and tells the browser", async () => {
  await startWords();
  await choose("zh");
  expect(wanted(["en"])).toBe("zh");
  expect(document.documentElement.lang).toBe("zh-Hans");
});

/** All the texts of a language, functions called with something. */
function texts(words: object, path = ""): [string, string][] {
  return Object.entries(words).flatMap(([key, value]): [string, string][] => {
    const at = `${path}.${key}`;
    if (typeof value === "string") return [[at, value]];
    if (typeof value === "object") return texts(value as object, at);
    return [];
  });
}

it("has every word in both, with the same gaps", () => {
  const gaps = (s: string) => (s.match(/\{\w+\}/g) ?? []).toSorted();
  const other = new Map(texts(zh));
  const own = texts(en);
  expect(own.length).toBeGreaterThan(150);
  for (const [at, text] of own) expect(gaps(other.get(at) ?? "missing {x}"), at).toEqual(gaps(text));
});

it("leaves no English on a card in Chinese", async () => {
  await speak("zh");
  const card = { ...aCall().card, say: { key: "runs", what: "npm" }, touches: [{ does: "exec" }, { does: "read", what: "/x", outside: true }] };
  const [a, b] = [aCall({ batch: inBatch("b", 1, 2), card, claim: "1" }), aCall({ batch: inBatch("b", 2, 2), card })];
  await show(a, b, settled(aCall()));
  await arm();
  const english = () =>
    [...find("article.card").querySelectorAll("h2, h3, .also, .cell dt, .cell dd, .seg label, .btn, .decide-status, .bound b, figcaption, .hint, .label")]
      .map((e) => [...e.childNodes].filter((n) => n.nodeType === Node.TEXT_NODE).map((n) => n.textContent).join(""))
      .filter((text) => /[a-z]{3}/i.test(text.replace("npm", "")));
  expect(english()).toEqual([]);
  expect(find("h2.says").textContent).toBe("运行 npm");
  expect(button("allow").textContent).toContain("允许一次");
  await press("deny-say");
  expect(english()).toEqual([]);
  loggedIn.value = true;
  await pass();
});
