import { ApiError, logout } from "../api";
import { resetGrants } from "../grants/store";
import { resetPast } from "../history/store";
import { resetModes } from "../modes/store";
import { resetQueue } from "../queue/store";
import { resetRules } from "../rules/store";
import { actorName, go, status } from "../state";
import { choose, t } from "../words/words";
import { language, languages, type Language } from "../words/language";
import { Isolation } from "./isolation";
import { Passkeys, passkeys, readPasskeys } from "./passkeys";
import { trouble } from "./stop";

/** Who is logged in; the way out is behind it. */
export function Who() {
  const name = status.value && actorName(status.value.you);
  if (!name) return <span class="who" />;
  const initials = name.split(/\s+/).map((word) => [...word][0] ?? "");
  return (
    <>
      <button type="button" class="who" popovertarget="me" aria-label={t().ui.who.as(name)} title={name}>
        {(initials[0]! + (initials.length > 1 ? initials.at(-1)! : "")).toUpperCase()}
      </button>
      <div id="me" class="menu" popover="auto" onToggle={(e) => e.newState === "open" && void readPasskeys()}>
        <p class="muted cut">{name}</p>
        <Isolation />
        <Passkeys />
        <label class="lab">
          {t().ui.who.language}
          <select class="text" data-field="language" value={language.value} onChange={(e) => void choose(e.currentTarget.value as Language)}>
            {Object.entries(languages).map(([code, name]) => (
              <option key={code} value={code} lang={code}>
                {name}
              </option>
            ))}
          </select>
        </label>
        <button type="button" class="btn" data-act="logout" onClick={() => void leave()}>
          {t().ui.who.out}
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
    trouble.value = t().ui.who.notOut(err instanceof ApiError ? err.message : t().ui.noAnswer);
    return;
  }
  go("/", "", "replace");
  status.value = null;
  resetQueue();
  resetPast();
  resetGrants();
  resetModes();
  resetRules();
  passkeys.value = null;
}
