// How a session is named.

import type { Session } from "./api.gen";
import { basename } from "./ui/text";
import { t } from "./words/words";

export function projectName(session: Session): string {
  return session.project ? basename(session.project) : session.name || session.id;
}

export function agentName({ name, host }: Session): string {
  return host ? t().ui.agentOn(name || t().ui.agent, host) : name || t().ui.agent;
}
