import { ApiError, logout } from "../api";
import { resetGrants } from "../grants/store";
import { resetPast } from "../history/store";
import { resetModes } from "../modes/store";
import { resetQueue } from "../queue/store";
import { actorName, go, status } from "../state";
import { trouble } from "./stop";

/** Who is logged in; the way out is behind it. */
export function Who() {
  const name = status.value && actorName(status.value.you);
  if (!name) return <span class="who" />;
  const initials = name.split(/\s+/).map((word) => [...word][0] ?? "");
  return (
    <>
      <button type="button" class="who" popovertarget="me" aria-label={`Logged in as ${name}`} title={name}>
        {(initials[0]! + (initials.length > 1 ? initials.at(-1)! : "")).toUpperCase()}
      </button>
      <div id="me" class="menu" popover="auto">
        <p class="muted cut">{name}</p>
        <button type="button" class="btn" data-act="logout" onClick={() => void leave()}>
          Log out
        </button>
      </div>
    </>
  );
}

async function leave(): Promise<void> {
  trouble.value = "";
  try {
    await logout();
  } catch (err) {
    trouble.value = `Not logged out: ${err instanceof ApiError ? err.message : "the gateway does not answer"}`;
    return;
  }
  go("/", "", "replace");
  status.value = null;
  resetQueue();
  resetPast();
  resetGrants();
  resetModes();
}
