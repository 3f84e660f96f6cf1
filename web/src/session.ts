// How a session is named.

import type { Session } from "./api.gen";
import { basename } from "./ui/text";

export function projectName(session: Session): string {
  return session.project ? basename(session.project) : session.name || session.id;
}

export function agentName({ name, host }: Session): string {
  return [name || "Agent", host].filter(Boolean).join(" on ");
}
