import type { Segment } from "../api.gen";
import { Foreign } from "../ui/text";
import { t } from "../words/words";
import { cut, isLong, Long, most, place } from "./long";

/** A long text is several boxes: the browser can leave out those that are not in view. */
const atOnce = 16_000;

interface Props {
  segments: readonly Segment[];
  piece: string;
  /** More characters than this are long. */
  characters?: number;
  /** What marks the parts that were asked about. */
  mark?: Mark;
}
type Mark = "mark" | "ins" | "del";

/** Text of an agent, with what was asked about underlined. If it is long, by head and tail first. */
export function Text({ segments, piece, characters = most.characters, mark = "mark" }: Props) {
  if (!isLong(segments, characters)) return <Pieces segments={segments} mark={mark} />;
  const { head, between, tail, ...left } = cut(segments);
  const words = t().call.gap;
  return (
    <Long
      piece={piece}
      label={left.lines > 0 ? words.lines(left.lines) : words.characters(left.characters)}
      head={<Pieces segments={head} mark={mark} />}
      between={() => boxes(between).map((box, i) => <Box key={i} segments={box} mark={mark} within={i === 0 && !ends(head)} />)}
      tail={<Pieces segments={tail} mark={mark} />}
    />
  );
}

function Box({ segments, mark, within }: { segments: readonly Segment[]; mark: Mark; within: boolean }) {
  return (
    <div class="is-part">
      {within && <GoesOn />}
      <Pieces segments={segments} mark={mark} />
      {!ends(segments) && <GoesOn />}
    </div>
  );
}

const ends = (segments: readonly Segment[]) => segments.at(-1)?.text.endsWith("\n") ?? true;

/** A box begins on a line of its own. Where the text does not, that is told. */
function GoesOn() {
  return <small class="goes-on">{t().call.gap.goesOn}</small>;
}

/** Cuts behind line breaks, and within lines that are too long to be drawn at once. */
function boxes(segments: readonly Segment[]): Segment[][] {
  const out: Segment[][] = [[]];
  let size = 0;
  let ended = false;
  for (const s of segments) {
    for (const line of s.text.split(/(?<=\n)/)) {
      for (const text of parts(line)) {
        if (size >= atOnce && (ended || size >= 2 * atOnce)) {
          out.push([]);
          size = 0;
        }
        const box = out.at(-1)!;
        const last = box.at(-1);
        if (last && last.asked === s.asked) last.text += text;
        else box.push({ ...s, text });
        size += text.length;
        ended = text.endsWith("\n");
      }
    }
  }
  return out;
}

function parts(line: string): string[] {
  const out: string[] = [];
  for (let at = 0, end = 0; at < line.length; at = end) {
    end = at + place(line.slice(at, at + 2 * atOnce), Math.min(atOnce, line.length - at));
    out.push(line.slice(at, end));
  }
  return out;
}

function Pieces({ segments, mark: Mark }: { segments: readonly Segment[]; mark: Mark }) {
  return (
    <>
      {segments.map((s, i) =>
        s.asked ? (
          <Mark key={i} class={Mark === "mark" ? "asked" : undefined}>
            <Foreign text={s.text} />
          </Mark>
        ) : (
          <Foreign key={i} text={s.text} />
        ),
      )}
    </>
  );
}
