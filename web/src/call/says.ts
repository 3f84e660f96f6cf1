import type { Call } from "../api.gen";
import { t } from "../words/words";

/** What would happen, in our words and the person's language. */
export function headline({ card }: Call): string {
  const { key = "", what = "", on = "", count = 0, added = 0, removed = 0 } = card.say ?? {};
  return t().call.says[key]?.({ what, on, count, added, removed }) ?? card.says;
}
