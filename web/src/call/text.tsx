import type { Segment } from "../api.gen";
import { Foreign } from "../ui/text";
import { t } from "../words/words";
import { cut, isLong, Long } from "./long";

/** A long text is several boxes: the browser can leave out those that are not in view. */
const atOnce = 16_000;

/** Text of an agent, with what was asked about underlined. If it is long, by head and tail first. */
export function Text({ segments, piece }: { segments: readonly Segment[]; piece: string }) {
  if (!isLong(segments)) return <Pieces segments={segments} />;
  const { head, between, tail, lines, characters } = cut(segments);
  const words = t().call.gap;
  return (
    <Long
      piece={piece}
      label={lines > 0 ? words.lines(lines) : words.characters(characters)}
      head={<Pieces segments={head} />}
      between={() => boxes(between).map((box, i) => <Box key={i} segments={box} />)}
      tail={<Pieces segments={tail} />}
    />
  );
}

function Box({ segments }: { segments: readonly Segment[] }) {
  return (
    <div class="is-part">
      <Pieces segments={segments} />
    </div>
  );
}

/** Cuts behind line breaks only: a box is a line of its own. */
function boxes(segments: readonly Segment[]): Segment[][] {
  const out: Segment[][] = [[]];
  let size = 0;
  let ended = false;
  for (const s of segments) {
    for (const line of s.text.split(/(?<=\n)/)) {
      if (size > atOnce && ended) {
        out.push([]);
        size = 0;
      }
      const box = out.at(-1)!;
      const last = box.at(-1);
      if (last && last.asked === s.asked) last.text += line;
      else box.push({ ...s, text: line });
      size += line.length;
      ended = line.endsWith("\n");
    }
  }
  return out;
}

function Pieces({ segments }: { segments: readonly Segment[] }) {
  return (
    <>
      {segments.map((s, i) =>
        s.asked ? (
          <mark key={i} class="asked">
            <Foreign text={s.text} />
          </mark>
        ) : (
          <Foreign key={i} text={s.text} />
        ),
      )}
    </>
  );
}
