// Passkeys sign what loosens something. What is signed names the request and
// what its body comes to, so that the audit trail can be checked without us.

import { ApiError, ask } from "./api";
import { routes, type Passkey, type RouteName } from "./api.gen";
import { hex, bytes } from "./proof";
import { address, type Parts } from "./request";
import { sha256 } from "./sha256";
import { t } from "./words/words";

/** The gateway takes no signature that is older than a minute. */
const patience = 50_000;

/** Only a name has passkeys. */
export const nameless = () => /^[\d.]+$|:/.test(location.hostname);

/** The same words as the gateway's api.Says. */
export function says(body: Record<string, any> = {}): string {
  const { state, digest, mode, remember: r, agent, session, effect, match, credential, for_seconds: seconds = 0 } = body;
  if (state) return JSON.stringify([state, digest, mode ?? "", ...(r ? [r.scope, hex(sha256(bytes(r.match))), r.for_seconds ?? 0, r.uses ?? 0] : [])]);
  if (mode) return JSON.stringify([mode, agent, session, seconds]);
  if (effect) return JSON.stringify([effect, match, digest]);
  return credential ? JSON.stringify([credential]) : "";
}

export function textOf(name: RouteName, parts: Parts, at: number): string {
  const { method, path } = routes[name];
  const body = parts.in === undefined ? "" : JSON.stringify(parts.in);
  return ["gatelatch.sign.v1", at, method, address(path, parts), says(parts.in as object), hex(sha256(bytes(body)))].join("\n");
}

/** Asks the person's passkey about one request. Gives the header that carries its word. */
export async function sign(name: RouteName, parts: Parts): Promise<string> {
  const w = t().access.passkeys;
  if (nameless()) throw unsigned(w.nameless);
  const { passkeys } = await ask("Passkeys", {});
  const mine = usable(passkeys);
  if (mine.length === 0) throw unsigned(w.none);
  const at = Date.now();
  const publicKey = { challenge: Uint8Array.from(sha256(bytes(textOf(name, parts, at)))), rpId: location.hostname, allowCredentials: mine, userVerification: "preferred", timeout: patience } as const;
  const got = (await navigator.credentials.get({ publicKey }).catch(() => null)) as PublicKeyCredential | null;
  if (!got) throw unsigned(w.cancelled);
  const { authenticatorData, clientDataJSON, signature } = got.response as AuthenticatorAssertionResponse;
  return ["v1", at, ...[got.rawId, authenticatorData, clientDataJSON, signature].map(base64)].join(".");
}

/** Has the browser make a passkey, and enrols it. */
export async function addPasskey(passkeys: readonly Passkey[], person: string): Promise<void> {
  const w = t().access.passkeys;
  if (nameless()) throw unsigned(w.nameless);
  const random = (n: number) => crypto.getRandomValues(new Uint8Array(n));
  const publicKey: PublicKeyCredentialCreationOptions = {
    rp: { id: location.hostname, name: "Gatelatch" },
    user: { id: random(16), name: person, displayName: person },
    challenge: random(32),
    pubKeyCredParams: [-7, -8, -257].map((alg) => ({ type: "public-key", alg })),
    excludeCredentials: usable(passkeys),
    authenticatorSelection: { userVerification: "preferred" },
    timeout: patience,
  };
  const made = (await navigator.credentials.create({ publicKey }).catch(() => null)) as PublicKeyCredential | null;
  const key = (made?.response as AuthenticatorAttestationResponse | undefined)?.getPublicKey();
  if (!made || !key) throw unsigned(w.notMade);
  await ask("AddPasskey", { in: { name: navigator.platform || "passkey", credential: base64(made.rawId), public_key: base64(key) } });
}

const unsigned = (why: string) => new ApiError(403, "unsigned", why);

/** Those that can sign here, as the browser wants them named. */
function usable(passkeys: readonly Passkey[]): PublicKeyCredentialDescriptor[] {
  return passkeys.filter((k) => k.here && k.yours).map((k) => ({ type: "public-key", id: raw(k.credential) }));
}

function base64(raw: ArrayBuffer): string {
  return btoa(String.fromCharCode(...new Uint8Array(raw)))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replace(/=+$/, "");
}

function raw(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));
}
