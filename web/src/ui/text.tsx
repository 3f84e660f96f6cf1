// Text that an agent wrote. The gateway has replaced every character that hides
// or misleads by its name in brackets, and a bracket in the text too, so that
// whatever stands in brackets is a name.

const named = /(⟨[^⟩]*⟩)/;

/** Names of plain blanks, also counted, are told quietly; the rest is a warning. */
const blank = /^⟨(?:·|TAB|LF)(?:×\d+)?⟩$/;

export function Foreign({ text }: { text: string | undefined }) {
  if (!text) return null;
  if (!text.includes("⟨")) return <>{text}</>;
  return (
    <>
      {text.split(named).map((piece, i) =>
        i % 2 === 0 ? piece : <span key={i} class={blank.test(piece) ? "esc is-plain" : "esc"}>{piece}</span>,
      )}
    </>
  );
}

/** How many named characters there are. */
export function hiddenIn(text: string): number {
  return text.split(named).filter((piece, i) => i % 2 === 1 && !blank.test(piece)).length;
}

/** The beginning of a text that is shown whole elsewhere, cut not within a name. Without it a row could be as long as an input. */
export function beginning(text: string, most = 400): string {
  if (text.length <= most) return text;
  const open = text.lastIndexOf("⟨", most - 1);
  const at = open >= 0 && text.indexOf("⟩", open) >= most ? open : most;
  return text.slice(0, /[\uDC00-\uDFFF]/.test(text[at]!) ? at - 1 : at) + "…";
}

/** The last part of a path. */
export function basename(path: string): string {
  return path.split(/[/\\]/).filter(Boolean).at(-1) ?? path;
}

export { plural } from "../words/language";
