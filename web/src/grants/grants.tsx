import type { Grant } from "../api.gen";
import { past } from "../history/store";
import { calls } from "../queue/store";
import { agentName, projectName } from "../session";
import { actorName, link } from "../state";
import { basename, Foreign } from "../ui/text";
import { clock, Since } from "../ui/time";
import { Fill } from "../words/fill";
import { t } from "../words/words";
import { revoke } from "./store";

/** What a person allowed for more than once, as a row among the rules. */
export function GrantRow({ grant }: { grant: Grant }) {
  const { rules: w } = t();
  const { where, of } = whereOf(grant);
  const live = link.value === "live";
  return (
    <tr data-grant={grant.id} class={grant.revoked ? "is-ended" : undefined}>
      <td>
        <span class="verdict is-allow">{w.effects.allow}</span>
      </td>
      <td>
        <code class="match">
          <Foreign text={grant.match} />
        </code>
        <span class="sub cut">
          <Fill text={w.by} gaps={{ who: <Foreign text={actorName(grant.by)} />, when: clock(grant.at) }} />
        </span>
      </td>
      <td class="cut" title={grant.project ?? grant.session}>
        {where} <Foreign text={of} />
        <span class="sub cut">
          <Lasts grant={grant} />
        </span>
      </td>
      <td class="num">{grant.used}</td>
      <td class="muted nowrap">{grant.last_used ? <Fill text={w.ago} gaps={{ time: <Since at={grant.last_used} /> }} /> : w.never}</td>
      <td>
        {!grant.revoked && (
          <button type="button" class="btn is-small" data-act="revoke" aria-disabled={live ? undefined : "true"} onClick={() => live && void revoke(grant.id)}>
            {w.revoke}
          </button>
        )}
      </td>
    </tr>
  );
}

function whereOf({ scope, project, session, agent }: Grant): { where: string; of: string | undefined } {
  const { rules: w } = t();
  switch (scope) {
    case "session":
      return { where: w.session, of: sessionName(session) };
    case "project":
      return { where: w.project, of: project && basename(project) };
    default:
      return { where: w.everywhere, of: w.agent(agent) };
  }
}

/** A session by its project and agent, if one of its calls is known. */
function sessionName(id = ""): string {
  const known = [...calls.value.values(), ...past.value].find((c) => c.session.id === id)?.session;
  return known ? `${projectName(known)}, ${agentName(known)}` : id;
}

function Lasts({ grant: { scope, until, uses, used, revoked } }: { grant: Grant }) {
  const { rules: w } = t();
  if (revoked) return <b>{w.ended}</b>;
  const end = until ? clock(until) : scope === "session" ? w.sessionEnds : w.revokeIt;
  return (
    <>
      <Fill text={w.until} gaps={{ end }} />
      {uses ? `, ${w.usesLeft(Math.max(0, uses - used))}` : ""}
    </>
  );
}
