// Requests to the gateway. A session has two halves: a cookie that the browser
// sends by itself, and a secret of this origin that only the page can prove.

import { signal } from "@preact/signals";
import { pageHeader, routes, type Decided, type Problem, type RouteName, type Signatures } from "./api.gen";
import { prove } from "./proof";

const secretKey = "gatelatch.page";

/** Whether the gateway takes our session, as far as we know. */
export const loggedIn = signal(secret() !== null);

function secret(): string | null {
  return localStorage.getItem(secretKey);
}

/** An answer that is not a success. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly hint = "",
    readonly decided?: Decided,
  ) {
    super(message);
  }
}

/** No answer at all. */
export class NetworkError extends Error {}

type Options<N extends RouteName> = Omit<Signatures[N], "out"> & { signal?: AbortSignal };

/** Asks the gateway for one thing. Rejects with ApiError or NetworkError, or as aborted. */
export async function ask<N extends RouteName>(name: N, options: Options<N>): Promise<Signatures[N]["out"]> {
  const response = await send(name, options);
  return (await response.json().catch(() => {
    throw new NetworkError("the answer was cut off");
  })) as Signatures[N]["out"];
}

/** Like ask, for routes that answer with a stream. */
export async function send<N extends RouteName>(name: N, options: Options<N>): Promise<Response> {
  const used = secret();
  const response = await request(name, options, used);
  if (response.ok) return response;
  if (response.status === 401 && name !== "Login") {
    // Another tab may have logged in anew while this request was under way.
    if (secret() !== null && secret() !== used) return send(name, options);
    loggedIn.value = false;
  }
  throw await readError(response);
}

async function request(name: RouteName, options: Parts, used: string | null): Promise<Response> {
  const { method, path } = routes[name];
  const headers = new Headers();
  const target = address(path, options);
  const body = options.in === undefined ? undefined : JSON.stringify(options.in);
  const init: RequestInit = { method, headers, credentials: "same-origin", cache: "no-store" };
  if (used !== null && name !== "Login") headers.set(pageHeader, prove(used, method, target, body));
  if (body !== undefined) {
    headers.set("Content-Type", "application/json");
    init.body = body;
  }
  if (options.signal) init.signal = options.signal;
  try {
    return await fetch(target, init);
  } catch (err) {
    if (options.signal?.aborted) throw err;
    throw new NetworkError("the gateway does not answer");
  }
}

interface Parts {
  params?: Record<string, string>;
  query?: Record<string, string | number | undefined>;
  in?: unknown;
  signal?: AbortSignal;
}

function address(path: string, { params, query }: Parts): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(params?.[name] ?? ""));
  const pairs = Object.entries(query ?? {}).flatMap(([k, v]) => (v === undefined ? [] : [[k, String(v)]]));
  return pairs.length > 0 ? `${filled}?${new URLSearchParams(pairs)}` : filled;
}

async function readError(response: Response): Promise<ApiError> {
  try {
    const problem = (await response.json()) as Problem;
    if (!problem.code) throw problem;
    return new ApiError(response.status, problem.code, problem.message, problem.hint, problem.decided);
  } catch {
    return new ApiError(response.status, "", `the gateway answered ${response.status}`);
  }
}

/** Trades the code of a login link for a session. A code works once. */
export async function login(code: string): Promise<void> {
  const { page } = await ask("Login", { in: { code } });
  localStorage.setItem(secretKey, page);
  loggedIn.value = true;
}

/** Ends the session. A half that the gateway did not take back is kept, to try again. */
export async function logout(): Promise<void> {
  try {
    await ask("Logout", { in: {} });
  } catch (err) {
    if (!(err instanceof ApiError && err.status === 401)) throw err;
  }
  localStorage.removeItem(secretKey);
  loggedIn.value = false;
}

/** Goes along when another tab of this browser has logged in or out. */
export function watchLogin(): void {
  window.addEventListener("storage", (event) => {
    if (event.key === secretKey) loggedIn.value = event.newValue !== null;
  });
}
