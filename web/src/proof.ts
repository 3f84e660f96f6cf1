// A proof shows that the page has its half of the session without showing the
// half: whoever takes the gateway's port while it is down learns nothing that
// works later. It is for one request, once.

import { hmac, sha256 } from "./sha256";

export const bytes = (text: string) => new TextEncoder().encode(text);
export const hex = (b: Uint8Array) => Array.from(b, (x) => x.toString(16).padStart(2, "0")).join("");

export function prove(page: string, method: string, target: string, body = ""): string {
  const nonce = hex(crypto.getRandomValues(new Uint8Array(16)));
  return sign(page, method, target, `v1.${Date.now()}.${nonce}.${hex(sha256(bytes(body)))}`);
}

/** The gateway keeps only the hash of the half, so that is the key. */
export function sign(page: string, method: string, target: string, text: string): string {
  const mac = hmac(sha256(bytes(page)), bytes(`gatelatch.page.v1\n${method}\n${target}\n${text}`));
  return `${text}.${hex(mac)}`;
}
