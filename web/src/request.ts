// Requests to the gateway. This needs nothing of the rest of the page, so that
// what the first card waits for can be asked for before the rest is read.

import { pageHeader, routes, signedHeader, type RouteName } from "./api.gen";
import { prove } from "./proof";

const secretKey = "gatelatch.page";

/** Our half of the session. */
export const secret = {
  read: () => localStorage.getItem(secretKey),
  keep: (half: string) => localStorage.setItem(secretKey, half),
  forget: () => localStorage.removeItem(secretKey),
  isAt: (key: string | null) => key === secretKey,
};

export interface Parts {
  params?: Record<string, string>;
  query?: Record<string, string | number | boolean | undefined>;
  in?: unknown;
  signal?: AbortSignal;
  /** What the person's passkey said to it. */
  signed?: string;
}

/** What was asked for ahead; each is taken once, by whoever asks for the same. */
const begun = new Map<string, Promise<Response>>();

/** Sends a request with a proof that the page has this half. */
export function request(name: RouteName, options: Parts, used: string | null): Promise<Response> {
  const { method, path } = routes[name];
  const target = address(path, options);
  const key = `${used} ${method} ${target}`;
  const ahead = begun.get(key);
  if (ahead) {
    begun.delete(key);
    return ahead;
  }
  const headers = new Headers();
  const body = options.in === undefined ? undefined : JSON.stringify(options.in);
  const init: RequestInit = { method, headers, credentials: "same-origin", cache: "no-store" };
  if (used !== null && name !== "Login") headers.set(pageHeader, prove(used, method, target, body));
  if (body !== undefined) {
    headers.set("Content-Type", "application/json");
    init.body = body;
  }
  if (options.signed) headers.set(signedHeader, options.signed);
  if (options.signal) init.signal = options.signal;
  return fetch(target, init);
}

export function address(path: string, { params, query }: Parts): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params?.[name] ?? ""));
  const pairs = Object.entries(query ?? {}).flatMap(([k, v]) => (v === undefined ? [] : [[k, String(v)]]));
  return pairs.length > 0 ? `${filled}?${new URLSearchParams(pairs)}` : filled;
}

/** The first part of what waits: enough to fill the list, with the first card whole. */
export const firstCalls = { state: "pending", limit: 20, brief: true, whole: 1 };

/** Asks for what the first card needs. */
export function askAhead(): void {
  const used = secret.read();
  if (used === null || location.pathname === "/login") return;
  const ahead = (name: RouteName, parts: Parts) => {
    const { method, path } = routes[name];
    const answer = request(name, parts, used);
    answer.catch(() => undefined); // told to who takes it
    begun.set(`${used} ${method} ${address(path, parts)}`, answer);
  };
  ahead("Calls", { query: firstCalls });
  ahead("Status", {});
}
