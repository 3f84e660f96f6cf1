// Small charts, drawn by hand. Each has a text that says the same.

interface Props {
  /** What the chart shows, for who does not see it. */
  label: string;
  /** One value for each day; null where there was none. */
  values: readonly (number | null)[];
  /** What a day's value is called, for the pointer. */
  say: (i: number) => string;
  /** The first and the last day. */
  ends: readonly [string, string];
  /** What the top of the scale is at least. */
  least: number;
  /** The last value in words. */
  last: string;
}

const [width, height, left, right, top, base] = [600, 150, 28, 566, 8, 128];

/** A round number that is not less. */
export function scale(most: number): number {
  const unit = 10 ** Math.floor(Math.log10(Math.max(1, most)));
  return [1, 2, 4, 5, 6, 8, 10].map((n) => n * unit).find((n) => n >= most) ?? most;
}

const y = (v: number, most: number) => base - ((base - top) * v) / most;
const round = (n: number) => Math.round(n * 10) / 10;

function Axes({ most, ends: [first, last] }: { most: number; ends: readonly [string, string] }) {
  const lines: [number, string][] = [[most, "c-axis"], [most / 2, "c-axis"], [0, "c-base"]];
  return (
    <>
      {lines.map(([v, name]) => (
        <g key={v}>
          <line class={name} x1={left} x2={right} y1={y(v, most)} y2={y(v, most)} />
          <text x={left - 6} y={y(v, most) + 4} text-anchor="end">
            {v}
          </text>
        </g>
      ))}
      <text x={left} y={height - 4}>
        {first}
      </text>
      <text x={right} y={height - 4} text-anchor="end">
        {last}
      </text>
    </>
  );
}

export function Bars({ label, values, say, ends, least, last }: Props) {
  const most = scale(Math.max(least, ...values.map((v) => v ?? 0)));
  const step = (right - left) / values.length;
  const end = values.length - 1;
  return (
    <svg class="chart" viewBox={`0 0 ${width} ${height}`} role="img" aria-label={label}>
      <Axes most={most} ends={ends} />
      {values.map((v, i) => (
        <rect key={i} class={i === end ? "c-bar is-now" : "c-bar"} x={round(left + step * (i + 0.15))} y={round(y(v ?? 0, most))} width={round(step * 0.7)} height={round(base - y(v ?? 0, most))} rx="1">
          <title>{say(i)}</title>
        </rect>
      ))}
      <text class="c-now" x={right + 6} y={round(y(values[end] ?? 0, most)) + 4}>
        {last}
      </text>
    </svg>
  );
}

export function Line({ label, values, say, ends, least, last }: Props) {
  const most = scale(Math.max(least, ...values.map((v) => v ?? 0)));
  const step = (right - left) / values.length;
  const at = (v: number, i: number): [number, number] => [round(left + step * (i + 0.5)), round(y(v, most))];
  const points = values.flatMap((v, i) => (v === null ? [] : [{ i, at: at(v, i) }]));
  const end = points.at(-1);
  return (
    <svg class="chart" viewBox={`0 0 ${width} ${height}`} role="img" aria-label={label}>
      <Axes most={most} ends={ends} />
      <polyline class="c-line" points={points.map((p) => p.at.join(",")).join(" ")} />
      {points.map(({ i, at: [cx, cy] }) => (
        <circle key={i} class="c-dot" cx={cx} cy={cy} r={i === end?.i || points.length < 15 ? 3 : 1}>
          <title>{say(i)}</title>
        </circle>
      ))}
      {end && (
        <text class="c-now" x={right + 6} y={end.at[1] + 4}>
          {last}
        </text>
      )}
    </svg>
  );
}
