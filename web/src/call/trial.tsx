import { useEffect, useState } from "preact/hooks";
import { ApiError, ask } from "../api";
import type { Call, Trial as Found } from "../api.gen";
import { Foreign } from "../ui/text";
import { t } from "../words/words";

/** Typing is over after this long. */
export const pause = 300;

interface Props {
  call: Call;
  scope: string;
  match: string;
}

/** What a matcher would have allowed of the last calls; the gateway tries it. */
export function Trial({ call, scope, match }: Props) {
  const key = JSON.stringify([call.id, scope, match]);
  const [found, setFound] = useState<{ key: string; trial?: Found; wrong?: string }>({ key: "" });
  useEffect(() => {
    if (match.trim() === "") return;
    const stop = new AbortController();
    const timer = setTimeout(() => {
      ask("TryMatch", { params: { id: call.id }, in: { scope, match: match.trim() }, signal: stop.signal }).then(
        (trial) => setFound({ key, trial }),
        (err: unknown) => !stop.signal.aborted && setFound({ key, ...(err instanceof ApiError && err.code === "invalid" && { wrong: err.message }) }),
      );
    }, pause);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [key]);
  const words = t().call.remember;
  const { trial, wrong } = found.key === key ? found : {};
  return (
    <div class="trial" role="status">
      {wrong ? (
        <p class="is-wrong">
          <Foreign text={wrong} />
        </p>
      ) : !trial ? (
        <p>{found.key === key ? "" : words.trying}</p>
      ) : (
        <>
          <p>{trial.of === 0 ? words.trialNone : words.trial(trial.matches, trial.of)}</p>
          <ul>
            {trial.calls.map((line) => (
              <li key={line}>
                <code>
                  <Foreign text={line} />
                </code>
              </li>
            ))}
          </ul>
        </>
      )}
    </div>
  );
}
