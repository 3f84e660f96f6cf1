// Stopping a session: what waits in it is denied, and its agent ends its turn.
import { ApiError, ask } from "../api";
import { Act } from "../call/act";
import { t } from "../words/words";
import type { Of } from "./store";

interface Props {
  of: Of;
  armed: boolean;
  off: boolean;
  done: (wrong: string) => void;
}

export function Interrupt({ of, armed, off, done }: Props) {
  return (
    <div class="line">
      <p class="hint">{t().modes.interruptSays}</p>
      <Act act="interrupt" class="is-also" armed={armed} off={off} press={() => void interrupt(of).then(done)}>
        {t().modes.interrupt}
      </Act>
    </div>
  );
}

/** Ends the turn of a session. Gives why it did not, or "". */
async function interrupt({ agent, session }: Of): Promise<string> {
  try {
    await ask("Interrupt", { in: { agent, session: session.id } });
    return "";
  } catch (err) {
    return t().modes.notInterrupted(err instanceof ApiError ? err.message : t().ui.noAnswer);
  }
}
