/** A number as Chinese writes it. */
export function number(n: number): string {
  return n.toLocaleString("zh");
}
