import { signal } from "@preact/signals";
import { ApiError, login, loggedIn } from "../api";
import { go } from "../state";
import { Command } from "./copy";
import { Latch } from "./icon";

type Stage = "none" | "trying" | "refused" | "unreachable";
export const stage = signal<Stage>("none");
let code = "";

/** Uses the code of a login link, if there is one in the address. */
export async function enter(): Promise<void> {
  if (location.pathname !== "/login") return;
  code = new URLSearchParams(location.hash.slice(1)).get("c") ?? "";
  // Before anything else, so that the code is in no history and no screenshot.
  go("/login", "", "replace");
  if (code) await trade();
  else if (loggedIn.value) go("/", "", "replace");
}

async function trade(): Promise<void> {
  stage.value = "trying";
  try {
    await login(code);
    stage.value = "none";
    go("/", "", "replace");
  } catch (err) {
    const refused = err instanceof ApiError && ["forbidden", "unauthenticated", "invalid"].includes(err.code);
    stage.value = refused ? "refused" : "unreachable";
  }
}

export function Login() {
  return (
    <main class="door">
      <p class="brand">
        <Latch />
        Gatelatch
      </p>
      <div class="calm" role="status">
        {words[stage.value]}
      </div>
    </main>
  );
}

const how = (
  <>
    <p>
      Run this in a terminal on the gateway’s machine (with the same <code>--state</code>, if the gateway was started with one).
      It opens a link that logs this browser in.
    </p>
    <Command text="gatelatch open" />
    <p class="muted">The link works once, for a short time. This page goes on by itself when you have used it.</p>
  </>
);

const words = {
  none: (
    <>
      <h1>You are not logged in here.</h1>
      {how}
    </>
  ),
  trying: <h1>Logging in…</h1>,
  refused: (
    <>
      <h1>This link was used already, or is too old.</h1>
      {how}
    </>
  ),
  unreachable: (
    <>
      <h1>The gateway did not answer.</h1>
      <p>Try again when it runs.</p>
      <button type="button" class="btn is-main" onClick={() => void trade()}>
        Try again
      </button>
    </>
  ),
};
