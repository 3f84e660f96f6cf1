import { Fragment, type ComponentChildren } from "preact";

interface Props {
  /** A sentence with gaps: "Mode of {project}". */
  text: string;
  gaps: Readonly<Record<string, ComponentChildren>>;
}

/** A sentence whose gaps hold more than text, in the order of the language. */
export function Fill({ text, gaps }: Props) {
  return (
    <>
      {text.split(/\{(\w+)\}/).map((piece, i) => (
        <Fragment key={i}>{i % 2 === 0 ? piece : gaps[piece]}</Fragment>
      ))}
    </>
  );
}
