import { status } from "../state";
import { t } from "../words/words";

/** How far agents are kept from the gateway, in a line. */
export function Isolation() {
  const level = status.value?.isolation;
  const words = t().access;
  if (!level || !Object.hasOwn(words.isolation, level)) return null;
  const known = level as keyof typeof words.isolation;
  return (
    <p class="muted" data-isolation={level} title={words.isolationSays[known]}>
      {words.isolation[known]}
    </p>
  );
}
