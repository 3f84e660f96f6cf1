import type { BoundFile, Call } from "../api.gen";
import { isSettled } from "../state";
import { Foreign } from "../ui/text";
import { clock } from "../ui/time";
import { Fill } from "../words/fill";
import { t } from "../words/words";
import { near } from "./effects";

const waitsAlone = (call: Call) => !isSettled(call) && (call.parked || call.left);

export const saysBound = (call: Call) => Boolean(call.bound || waitsAlone(call));

/** What an allow holds for besides the input, what may change unnoticed, and whether anybody waits for it. */
export function Bound({ call }: { call: Call }) {
  const words = t().bound;
  const { files, unbound, server } = call.bound ?? {};
  return (
    <>
      {waitsAlone(call) && (
        <li class="reason is-close" data-alone>
          {call.left ? <Fill text={words.left} gaps={{ time: clock(call.left) }} /> : words.parked}
        </li>
      )}
      {unbound && (
        <li class="reason is-close" data-unbound={unbound}>
          <span class="label">{words.unbound}</span> {words.why[unbound] ?? words.why.file}
        </li>
      )}
      {(files ?? []).map((f) => (
        <File key={f.path + f.real} file={f} project={call.session.project} />
      ))}
      {server && (
        <li class="reason muted" data-bound={server.sum}>
          <Fill text={words.server} gaps={{ name: <Code text={server.name} />, launch: <Code text={server.launch} /> }} />
          <span class="src">
            <Foreign text={server.source} /> · SHA-256 {server.sum.slice(0, 16)}
          </span>
        </li>
      )}
    </>
  );
}

function File({ file: { real, sum, writes }, project }: { file: BoundFile; project: string | undefined }) {
  const words = t().bound;
  const name = <Code text={near(real, project)} />;
  const text = sum ? (writes ? words.edited : words.run) : words.missing;
  return (
    <li class="reason muted" data-bound={sum ?? ""}>
      <Fill text={text} gaps={{ file: name }} />
      {sum && <span class="src">SHA-256 {sum.slice(0, 16)}</span>}
    </li>
  );
}

function Code({ text }: { text: string }) {
  return (
    <code>
      <Foreign text={text} />
    </code>
  );
}
