import { signal } from "@preact/signals";
import { t, type Words } from "../words/words";

export const helpOpen = signal(false);

const keys: [string[], keyof Words["ui"]["keys"]][] = [
  [["J", "K"], "move"],
  [["A"], "allow"],
  [["⇧A"], "remember"],
  [["E"], "edit"],
  [["D"], "deny"],
  [["⇧D"], "say"],
  [["M"], "mode"],
  [["/"], "filter"],
  [["Esc"], "escape"],
  [["?"], "help"],
];

/** Stands in the list, never over the call. */
export function Help() {
  if (!helpOpen.value) return null;
  return (
    <dl class="keys" aria-label={t().ui.keys.title}>
      {keys.map(([names, says]) => (
        <>
          <dt>
            {names.map((k) => (
              <kbd key={k}>{k}</kbd>
            ))}
          </dt>
          <dd>{t().ui.keys[says]}</dd>
        </>
      ))}
    </dl>
  );
}
