/** A text whose line ends are all LF, and the way back to offsets of the text that it was made from. */
export type LfText = { readonly text: string; readonly originalOffset: (offset: number) => number };

/** Turns CRLF and lone CR into LF, so that a checkout's line ends change neither results nor node ids. */
export function toLf(text: string): LfText {
  if (!text.includes("\r")) return { text, originalOffset: (offset) => offset };
  const removedAt: number[] = [];
  let result = "";
  for (let at = 0; at < text.length; at++) {
    if (text[at] !== "\r") result += text[at];
    else if (text[at + 1] === "\n") removedAt.push(result.length);
    else result += "\n";
  }
  return { text: result, originalOffset: (offset) => offset + countUpTo(removedAt, offset) };
}

/** How many of the ascending numbers lie before `limit`. */
function countUpTo(ascending: readonly number[], limit: number): number {
  let low = 0;
  let high = ascending.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((ascending[middle] ?? Infinity) < limit) low = middle + 1;
    else high = middle;
  }
  return low;
}
