import type { Call, Touch } from "../api.gen";
import { Icon } from "../ui/icon";
import { Foreign } from "../ui/text";
import { Fill } from "../words/fill";
import { t } from "../words/words";
import { besides, cellsOf, near, type Cell, type Effect } from "./effects";

const icons: Record<Effect, string> = { read: "eye", write: "pen", delete: "bin", net: "net", outside: "out", secret: "key" };

/** The six effects of a call. "None" is said, so that silence can be trusted. */
export function Strip({ call }: { call: Call }) {
  const cells = cellsOf(call.card);
  if (!cells) return null;
  return (
    <>
      <Also call={call} />
      <dl class="strip" aria-label={t().call.effects.label}>
        {cells.map((cell) => (
          <One key={cell.effect} cell={cell} project={call.session.project} />
        ))}
      </dl>
    </>
  );
}

function One({ cell, project }: { cell: Cell; project: string | undefined }) {
  const words = t().call.effects;
  const { effect, things, known, close } = cell;
  const state = things.length > 0 ? (close ? "is-close" : "") : known ? "is-none" : "is-unknown";
  const names = things.map((x) => thing(x, project));
  return (
    <div class={`cell ${state}`} data-effect={effect}>
      <dt>
        <Icon name={icons[effect]} />
        <span class={effect === "outside" ? "wide" : undefined}>{words.names[effect]}</span>
        {effect === "outside" && <span class="narrow">{words.outsideShort}</span>}
      </dt>
      <dd title={names.join("\n") || undefined}>
        {things.length > 0 ? words[effect](things.length) : known ? words.none : words.unknown}
        {things.length > 0 && (
          <small>
            <Foreign text={names.map(ending).join(", ")} />
          </small>
        )}
        {things.length === 0 && !known && <small>{words.may}</small>}
      </dd>
    </div>
  );
}

/** A long path by its end, which tells more than its beginning. All of it is in the title, and in the call. */
function ending(path: string): string {
  const parts = path.split("/");
  return path.length > 24 && parts.length > 3 ? `…/${parts.slice(-2).join("/")}` : path;
}

/** What is touched, in few words. */
export function thing({ what, below }: Touch, project: string | undefined): string {
  const words = t().call.effects;
  if (!what) return words.cantKnow;
  return (below ? words.filesIn + " " : "") + near(what, project);
}

function Also({ call: { card } }: { call: Call }) {
  const words = t().call.effects;
  const list = besides(card).map((d) => words.does[d] ?? d);
  if (card.more) list.push(words.more(card.more));
  if (list.length === 0) return null;
  return (
    <p class="also">
      <Fill text={words.also} gaps={{ list: list.join(", ") }} />
    </p>
  );
}

/** The same six as small signs, for lists. */
export function Pips({ call: { card } }: { call: Call }) {
  const cells = cellsOf(card);
  if (!cells) return null;
  const words = t().call.effects;
  const some = cells.filter((c) => c.things.length > 0).map((c) => words.names[c.effect]);
  const unknown = cells[0]!.known ? [] : [words.unknown];
  const label = [...some, ...unknown].join(", ") || words.none;
  return (
    <span class="pips" role="img" aria-label={words.list(label)} title={label}>
      {cells.map(({ effect, things, close, known }) =>
        things.length > 0 ? (
          <span key={effect} class={close ? "is-close" : undefined}>
            <Icon name={icons[effect]} />
          </span>
        ) : (
          <i key={effect}>{known ? "" : "?"}</i>
        ),
      )}
    </span>
  );
}
