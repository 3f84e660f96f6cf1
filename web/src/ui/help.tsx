import { signal } from "@preact/signals";

export const helpOpen = signal(false);

const keys: [string[], string][] = [
  [["J", "K"], "next, previous call"],
  [["A"], "allow once"],
  [["⇧A"], "allow and remember"],
  [["E"], "edit first"],
  [["D"], "deny"],
  [["⇧D"], "deny with words, reply, stop"],
  [["M"], "mode of the session"],
  [["/"], "filter, Enter keeps it"],
  [["Esc"], "close, go back"],
  [["?"], "these keys"],
];

/** Stands in the list, never over the call. */
export function Help() {
  if (!helpOpen.value) return null;
  return (
    <dl class="keys" aria-label="Keys">
      {keys.map(([names, says]) => (
        <>
          <dt>
            {names.map((k) => (
              <kbd key={k}>{k}</kbd>
            ))}
          </dt>
          <dd>{says}</dd>
        </>
      ))}
    </dl>
  );
}
