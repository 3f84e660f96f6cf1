import { useEffect } from "preact/hooks";
import type { Grant } from "../api.gen";
import { past } from "../history/store";
import { agentName, projectName } from "../session";
import { calls } from "../queue/store";
import { actorName, link } from "../state";
import { basename, Foreign, plural } from "../ui/text";
import { clock, Since } from "../ui/time";
import { forgetRevoked, grants, readGrants, refused, revoke } from "./store";

export function Grants() {
  useEffect(() => {
    void readGrants();
    return forgetRevoked;
  }, []);
  const list = grants.value;
  return (
    <main class="page">
      <div class="page-in">
        <header class="page-head">
          <h1>Remembered</h1>
          <span class="muted is-wide">What you allowed for more than once. Rules that deny or ask come first.</span>
          <span class="grow" />
          <span class="hint is-wrong" role="status">
            {refused.value}
          </span>
        </header>
        {list && list.length > 0 && <Table list={list} />}
        {list && list.length === 0 && (
          <p class="muted">Nothing is remembered. “Allow and remember…” on a waiting call adds to this list.</p>
        )}
      </div>
    </main>
  );
}

function Table({ list }: { list: readonly Grant[] }) {
  return (
    <table class="table is-fixed grants">
      <thead>
        <tr>
          <th>Allows</th>
          <th class="c-where">Where</th>
          <th class="c-lasts">Until</th>
          <th class="c-used">Last used</th>
          <th class="c-act">
            <span class="hide">Action</span>
          </th>
        </tr>
      </thead>
      <tbody>
        {list.map((g) => (
          <Row key={g.id} grant={g} />
        ))}
      </tbody>
    </table>
  );
}

function Row({ grant }: { grant: Grant }) {
  const { where, of } = whereOf(grant);
  return (
    <tr data-grant={grant.id} class={grant.revoked ? "is-ended" : undefined}>
      <td>
        <code class="match">
          <Foreign text={grant.match} />
        </code>
        <span class="sub cut">
          by <Foreign text={actorName(grant.by)} />, {clock(grant.at)}
        </span>
      </td>
      <td class="cut" title={grant.project ?? grant.session}>
        {where}
        <span class="sub cut">
          <Foreign text={of} />
        </span>
      </td>
      <td>
        <Lasts grant={grant} />
      </td>
      <td class="muted">
        <span class="narrow">used </span>
        {grant.last_used ? (
          <>
            <Since at={grant.last_used} /> ago
          </>
        ) : (
          "never"
        )}
      </td>
      <td>
        {!grant.revoked && (
          <button
            type="button"
            class="btn is-small"
            data-act="revoke"
            aria-disabled={link.value === "live" ? undefined : "true"}
            onClick={() => link.value === "live" && void revoke(grant.id)}
          >
            Revoke
          </button>
        )}
      </td>
    </tr>
  );
}

function whereOf({ scope, project, session, agent }: Grant): { where: string; of: string | undefined } {
  switch (scope) {
    case "session":
      return { where: "One session", of: sessionName(session) };
    case "project":
      return { where: "One project", of: project && basename(project) };
    default:
      return { where: "Everywhere", of: `agent ${agent}` };
  }
}

/** A session by its project and agent, if one of its calls is known. */
function sessionName(id = ""): string {
  const known = [...calls.value.values(), ...past.value].find((c) => c.session.id === id)?.session;
  return known ? `${projectName(known)}, ${agentName(known)}` : id;
}

function Lasts({ grant: { scope, until, uses, used, revoked } }: { grant: Grant }) {
  if (revoked) return <b>Revoked</b>;
  const left = uses && plural(Math.max(0, uses - used), "use") + " left";
  return (
    <>
      <span class="narrow">until </span>
      {until ? clock(until) : scope === "session" ? "the session ends" : "you revoke it"}
      {left && <span class="sub">{left}</span>}
    </>
  );
}
