import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { ask } from "../api";
import type { Audit } from "../api.gen";
import { Icon } from "../ui/icon";
import { Foreign } from "../ui/text";
import { Since } from "../ui/time";
import { Fill } from "../words/fill";
import { t } from "../words/words";

const audit = signal<Audit | null>(null);

/** While the gateway is checking, and once it has. */
const [soon, later] = [400, 15_000];

function watch(): () => void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let over = false;
  const look = async () => {
    audit.value = await ask("Audit", {}).catch(() => audit.value);
    const a = audit.value;
    if (!over) timer = setTimeout(() => void look(), !a || a.checked < a.seq ? soon : later);
  };
  void look();
  return () => {
    over = true;
    clearTimeout(timer);
  };
}

/** How far the trail is whole, as the gateway found by checking its hashes. */
export function AuditState() {
  useEffect(watch, []);
  const a = audit.value;
  if (!a) return <span class="state muted audit" />;
  const { history: w } = t();
  if (a.problem) {
    return (
      <span class="state audit is-bad" role="alert">
        <Icon name="chain" />
        <span>
          {w.broken("")}
          <Foreign text={a.problem} />
        </span>
      </span>
    );
  }
  return (
    <span class="state muted audit" data-checked={a.checked}>
      <Icon name="chain" />
      {a.checked < a.seq ? (
        w.checking(a.checked, a.seq)
      ) : (
        <span>
          {w.whole(a.checked)}
          {a.at && <Fill text={w.checked} gaps={{ time: <Since at={a.at} /> }} />}
        </span>
      )}
    </span>
  );
}
