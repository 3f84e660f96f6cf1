import { signal } from "@preact/signals";
import { ApiError, login, loggedIn } from "../api";
import { go } from "../state";
import { Fill } from "../words/fill";
import { t } from "../words/words";
import { Command } from "./copy";
import { Latch } from "./icon";

type Stage = "none" | "trying" | "refused" | "unreachable";
export const stage = signal<Stage>("none");
let code = "";

/** Uses the code of a login link, if there is one in the address. Gives nothing where there is nothing to wait for. */
export function enter(): Promise<void> | undefined {
  if (location.pathname !== "/login") return undefined;
  code = new URLSearchParams(location.hash.slice(1)).get("c") ?? "";
  // Before anything else, so that the code is in no history and no screenshot.
  go("/login", "", "replace");
  if (code) return trade();
  if (loggedIn.value) go("/", "", "replace");
  return undefined;
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
        <Says />
      </div>
    </main>
  );
}

function How() {
  return (
    <>
      <p>
        <Fill text={t().ui.login.run} gaps={{ state: <code>--state</code> }} />
      </p>
      <Command text="gatelatch open" />
      <p class="muted">{t().ui.login.once}</p>
    </>
  );
}

function Says() {
  const words = t().ui.login;
  return (
    <>
      <h1>{words[stage.value]}</h1>
      {(stage.value === "none" || stage.value === "refused") && <How />}
      {stage.value === "unreachable" && (
        <>
          <p>{words.later}</p>
          <button type="button" class="btn is-main" onClick={() => void trade()}>
            {words.again}
          </button>
        </>
      )}
    </>
  );
}
