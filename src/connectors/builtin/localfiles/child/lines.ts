import type { ColumnReader } from "../../../sdk/mod.ts";

/** How rows become lines of a text file. */
export type LineFormat = {
  /** What every file begins with. */
  readonly head: string;
  /** What gives the line of a row, its end included, from the readers of the columns that are written. */
  lines(readers: readonly ColumnReader[]): (row: number) => string;
};
