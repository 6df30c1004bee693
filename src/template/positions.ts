import type { SourcePosition } from "../project/mod.ts";

/** Takes offsets in one text (UTF-16 code units) to lines and columns, which count from 1. */
export function positionsOf(file: string, text: string): (offset: number) => SourcePosition {
  const starts = [0];
  for (let index = text.indexOf("\n"); index !== -1; index = text.indexOf("\n", index + 1)) starts.push(index + 1);
  return (offset) => {
    const within = Math.min(Math.max(offset, 0), text.length);
    const line = lastAtOrBefore(starts, within);
    return { file, line: line + 1, column: within - (starts[line] ?? 0) + 1 };
  };
}

/** The index of the last of the ascending numbers that is not greater than `limit`; 0 if there is none. */
export function lastAtOrBefore(ascending: readonly number[], limit: number): number {
  let low = 0;
  let high = ascending.length - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if ((ascending[middle] ?? 0) <= limit) low = middle;
    else high = middle - 1;
  }
  return low;
}
