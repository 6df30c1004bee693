/**
 * A run of one column's values in the server's binary form: that of row `i` begins at `places[from + i]` of the bytes,
 * its length in the four bytes before; a negative place is NULL.
 */
export type Cells = {
  readonly bytes: Uint8Array;
  readonly view: DataView;
  readonly places: Int32Array;
  readonly from: number;
  readonly rows: number;
};

/** A place that stands for NULL. */
export const NULL_PLACE = -1;

/** How many of the values are NULL. */
export function countNulls({ places, from, rows }: Cells): number {
  let nulls = 0;
  for (let row = 0; row < rows; row++) if ((places[from + row] ?? NULL_PLACE) < 0) nulls++;
  return nulls;
}
