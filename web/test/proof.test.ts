import { createHash, createHmac, randomBytes } from "node:crypto";
import { describe, expect, it } from "vitest";
import { prove, sign } from "../src/proof";
import { hmac, sha256 } from "../src/sha256";

const hex = (b: Uint8Array) => Buffer.from(b).toString("hex");

describe("hashes", () => {
  it("are those of everybody else, for every length around a block", () => {
    for (let n = 0; n < 200; n++) {
      const text = randomBytes(n);
      expect(hex(sha256(text)), `${n} bytes`).toBe(createHash("sha256").update(text).digest("hex"));
      const key = randomBytes(32);
      expect(hex(hmac(key, text))).toBe(createHmac("sha256", key).update(text).digest("hex"));
    }
  });
});

describe("a proof", () => {
  it("is what the gateway expects", () => {
    // The same values stand in the gateway's own test.
    const text = "v1.1794744000000.0123456789abcdef." + createHash("sha256").update("{}").digest("hex");
    expect(sign("gkp_test", "POST", "/v1/pause", text)).toBe(
      "v1.1794744000000.0123456789abcdef.44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a.3b4d8ce227c16ebbf0ced078381e87abc1aa39265c7e39e68ca203fce3f082ab",
    );
  });

  it("never holds the half, and is another one each time", () => {
    const one = prove("gkp_secret", "GET", "/v1/status");
    expect(one).not.toContain("secret");
    expect(prove("gkp_secret", "GET", "/v1/status")).not.toBe(one);
  });
});
