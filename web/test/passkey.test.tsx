import { createHash } from "node:crypto";
import { render } from "@testing-library/preact";
import { beforeEach, describe, expect, it, vi } from "vitest";
import type { Call, Passkeys as List } from "../src/api.gen";
import { textOf } from "../src/passkey";
import { status } from "../src/state";
import { Passkeys, passkeys, readPasskeys } from "../src/ui/passkeys";
import { aCall, settled } from "./calls";
import { Gateway, refusal } from "./gateway";
import { arm, find, has, newsText, pass, press, show } from "./page";

const laptop = { id: "key_p", name: "laptop", credential: "AQID-_8", domain: "localhost", here: true, yours: true, created: "2026-01-02T03:04:05Z" };
const phone = { ...laptop, id: "key_q", credential: "BAUG", domain: "gate.example.net", here: false };
const others = { ...laptop, id: "key_r", credential: "CAkK", yours: false };

let gateway: Gateway;
let credentials: { get: ReturnType<typeof vi.fn>; create: ReturnType<typeof vi.fn> };
const bytes = (...b: number[]) => Uint8Array.from(b).buffer;

beforeEach(() => {
  gateway = new Gateway();
  known(laptop, phone, others);
  credentials = {
    get: vi.fn(async () => ({ rawId: bytes(1, 2, 3, 251, 255), response: { authenticatorData: bytes(1), clientDataJSON: bytes(2), signature: bytes(255, 254) } })),
    create: vi.fn(async () => ({ rawId: bytes(7), response: { getPublicKey: () => bytes(8, 9) } })),
  };
  vi.stubGlobal("navigator", { credentials, platform: "Test", languages: ["en"] });
  vi.stubGlobal("location", { hostname: "localhost", pathname: "/", hash: "" });
});

function known(...list: List["passkeys"]) {
  gateway.answers["GET /v1/passkeys"] = () => ({ body: { signing: "all", passkeys: list } });
}

const route = (c: Call) => `POST /v1/calls/${c.id}/decision`;

/** A call whose allow needs a signature. */
function guarded(): Call {
  const c = aCall();
  gateway.answers[route(c)] = (q) => (q.signed ? { body: settled(c, "allowed", "Mira Okafor") } : refusal(403, "unsigned"));
  return c;
}

describe("an allow that needs a passkey", () => {
  it("is sent again with its word, about exactly what was sent", async () => {
    const c = guarded();
    await show(c, aCall());
    await arm();
    await press("allow");
    await pass();
    const [first, second] = gateway.to(route(c));
    expect(first?.signed).toBeNull();
    expect(second?.body).toEqual(first?.body);
    const [, at, ...parts] = second!.signed!.split(".");
    expect(parts).toEqual(["AQID-_8", "AQ", "Ag", "__4"]);
    const { publicKey } = credentials.get.mock.calls[0]![0];
    const body = JSON.stringify({ state: "allowed", digest: c.digest });
    const text = ["gatelatch.sign.v1", at, "POST", `/v1/calls/${c.id}/decision`, `["allowed","${c.digest}",""]`, createHash("sha256").update(body).digest("hex")];
    expect(Buffer.from(publicKey.challenge).toString("hex")).toBe(createHash("sha256").update(text.join("\n")).digest("hex"));
    expect(publicKey.allowCredentials.map((k: { id: Uint8Array }) => [...k.id])).toEqual([[1, 2, 3, 251, 255]]);
    expect(publicKey.rpId).toBe("localhost");
    expect(newsText()).toContain("Allowed once");
  });

  it.each([
    ["the person says no", () => credentials.get.mockRejectedValue(new DOMException("no", "NotAllowedError")), "your passkey did not sign"],
    ["there is none for this address", () => known(phone, others), "you have none for this address"],
    ["the address has no name", () => (location.hostname = "127.0.0.1"), "gatelatch open"],
  ])("decides nothing when %s, and says so", async (_, given, says) => {
    const c = guarded();
    given();
    await show(c);
    await arm();
    await press("allow");
    await pass();
    expect(gateway.to(route(c)).map((a) => a.signed)).toEqual([null]);
    expect(newsText()).toContain(says);
    expect(has(`[data-call="${c.id}"]`)).toBe(true);
  });

  it("is not asked for twice when the signature does not count", async () => {
    const c = guarded();
    gateway.answers[route(c)] = (q) => refusal(403, q.signed ? "signature" : "unsigned");
    await show(c);
    await arm();
    await press("allow");
    await pass();
    expect(gateway.to(route(c))).toHaveLength(2);
    expect(newsText()).toContain("refused: signature");
  });
});

it("signs the words that the gateway expects", () => {
  // The same stand in the gateway's own test.
  const words = (name: Parameters<typeof textOf>[0], body: unknown) => textOf(name, { params: { id: "x" }, in: body }, 1).split("\n")[4];
  expect(words("Decide", { state: "allowed", digest: "ab", mode: "acceptEdits" })).toBe('["allowed","ab","acceptEdits"]');
  const kept = words("Decide", { state: "allowed", digest: "ab", remember: { scope: "project", match: "Bash(a <b> & c)", uses: 3 } });
  expect(kept).toBe(`["allowed","ab","","project","${createHash("sha256").update("Bash(a <b> & c)").digest("hex")}",0,3]`);
  expect(words("SetMode", { agent: "a", session: 's\n"<é>', mode: "plan", for_seconds: 60 })).toBe('["plan","a","s\\n\\"<é>",60]');
  expect(words("SetMode", { agent: "a", session: "s", mode: "plan" })).toBe('["plan","a","s",0]');
  expect(words("AddRule", { effect: "allow", match: "Bash(ls)", call: "c", digest: "ab" })).toBe('["allow","Bash(ls)","ab"]');
  expect(words("AddPasskey", { name: "n", credential: "AQ", public_key: "Ag" })).toBe('["AQ"]');
  expect(words("PhoneLink", {})).toBe("");
});

describe("the menu", () => {
  beforeEach(() => {
    status.value = { version: "1", you: { kind: "person", id: "key_1", name: "Mira" }, seq: 1 };
  });

  it("says nothing where nothing is signed", async () => {
    gateway.answers["GET /v1/passkeys"] = () => ({ body: { signing: "off", passkeys: [] } });
    await readPasskeys();
    expect(render(<Passkeys />).container.textContent).toBe("");
  });

  it("adds a passkey, and says why it was not added", async () => {
    known();
    await readPasskeys();
    render(<Passkeys />);
    expect(find('[role="status"]').textContent).toContain("within ten minutes");
    gateway.answers["POST /v1/passkeys"] = () => refusal(403, "forbidden");
    await press("passkey-add");
    await pass();
    expect(gateway.to("POST /v1/passkeys")[0]?.body).toEqual({ name: "Test", credential: "Bw", public_key: "CAk" });
    expect(find('[role="status"]').textContent).toBe("refused: forbidden");
    gateway.answers["POST /v1/passkeys"] = () => (known(laptop), { body: laptop });
    await press("passkey-add");
    await pass();
    expect(find("[data-passkeys]").dataset["passkeys"]).toBe("1");
    expect(passkeys.value?.passkeys).toEqual([laptop]);
  });

  it("removes one with the word of another", async () => {
    await readPasskeys();
    render(<Passkeys />);
    gateway.answers["POST /v1/passkeys/key_p/remove"] = (q) => (q.signed ? (known(phone), { body: laptop }) : refusal(403, "unsigned"));
    await press("passkey-remove");
    await pass();
    expect(find("[data-passkeys]").dataset["passkeys"]).toBe("1");
    expect(find("[data-passkeys]").textContent).not.toContain("signature");
  });
});
