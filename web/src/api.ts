// Requests to the gateway. A session has two halves: a cookie that the browser
// sends by itself, and a secret of this origin that only the page can prove.

import { signal } from "@preact/signals";
import type { Decided, Problem, RouteName, Signatures } from "./api.gen";
import { sign } from "./passkey";
import { request, secret } from "./request";

/** Whether the gateway takes our session, as far as we know. */
export const loggedIn = signal(secret.read() !== null);

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

type Options<N extends RouteName> = Omit<Signatures[N], "out"> & { signal?: AbortSignal; signed?: string };

/** Asks the gateway for one thing. Rejects with ApiError or NetworkError, or as aborted. */
export async function ask<N extends RouteName>(name: N, options: Options<N>): Promise<Signatures[N]["out"]> {
  const response = await send(name, options);
  return (await response.json().catch(() => {
    throw new NetworkError("the answer was cut off");
  })) as Signatures[N]["out"];
}

/** Like ask, for routes that answer with a stream. What needs a passkey is sent again with its word. */
export async function send<N extends RouteName>(name: N, options: Options<N>): Promise<Response> {
  const used = secret.read();
  const response = await reach(name, options, used);
  if (response.ok) return response;
  if (response.status === 401 && name !== "Login") {
    // Another tab may have logged in anew while this request was under way.
    if (secret.read() !== null && secret.read() !== used) return send(name, options);
    loggedIn.value = false;
  }
  const refused = await readError(response);
  if (refused.code !== "unsigned" || options.signed) throw refused;
  return send(name, { ...options, signed: await sign(name, options) });
}

async function reach(...[name, options, used]: Parameters<typeof request>): Promise<Response> {
  try {
    return await request(name, options, used);
  } catch (err) {
    if (options.signal?.aborted) throw err;
    throw new NetworkError("the gateway does not answer");
  }
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
  secret.keep(page);
  loggedIn.value = true;
}

/** Ends the session. A half that the gateway did not take back is kept, to try again. */
export async function logout(): Promise<void> {
  try {
    await ask("Logout", { in: {} });
  } catch (err) {
    if (!(err instanceof ApiError && err.status === 401)) throw err;
  }
  secret.forget();
  loggedIn.value = false;
}

/** Goes along when another tab of this browser has logged in or out. */
export function watchLogin(): void {
  window.addEventListener("storage", (event) => {
    if (secret.isAt(event.key)) loggedIn.value = event.newValue !== null;
  });
}
