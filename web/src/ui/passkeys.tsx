import { signal } from "@preact/signals";
import { ApiError, ask } from "../api";
import type { Passkeys as List } from "../api.gen";
import { addPasskey } from "../passkey";
import { actorName, status } from "../state";
import { t } from "../words/words";

/** Null until the menu was opened. */
export const passkeys = signal<List | null>(null);
const refused = signal("");
const busy = signal(false);

/** Reads the list anew. */
export async function readPasskeys(): Promise<void> {
  refused.value = "";
  passkeys.value = await ask("Passkeys", {}).catch(() => passkeys.value);
}

/** Does what may need a passkey, says why it was not done, and reads what holds then. */
async function change(what: () => Promise<unknown>): Promise<void> {
  if (busy.value) return;
  busy.value = true;
  let why = "";
  try {
    await what();
  } catch (err) {
    why = err instanceof ApiError ? err.message : t().ui.noAnswer;
  }
  await readPasskeys();
  status.value = await ask("Status", {}).catch(() => status.value);
  refused.value = why;
  busy.value = false;
}

/** Whose word is needed to allow; shown where any is. */
export function Passkeys() {
  const list = passkeys.value;
  const w = t().access.passkeys;
  if (!list || (list.signing === "off" && list.passkeys.length === 0)) return null;
  const mine = list.passkeys.filter((k) => k.yours);
  return (
    <div class="passkeys" data-passkeys={mine.length}>
      <p class="muted">{w.needs[list.signing] ?? list.signing}</p>
      {mine.map((k) => (
        <div class="line" key={k.id}>
          <span class="grow cut" title={k.domain}>
            {k.here ? k.name : `${k.name} (${k.domain})`}
          </span>
          <button type="button" class="btn is-small" data-act="passkey-remove" onClick={() => void change(() => ask("RemovePasskey", { params: { id: k.id }, in: {} }))}>
            {w.remove}
          </button>
        </div>
      ))}
      <button type="button" class="btn" data-act="passkey-add" onClick={() => void change(() => addPasskey(list.passkeys, actorName(status.value!.you)))}>
        {w.add}
      </button>
      <p class="label" role="status">
        {refused.value || (mine.length === 0 ? w.first : "")}
      </p>
    </div>
  );
}
