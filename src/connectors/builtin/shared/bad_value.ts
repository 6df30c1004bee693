import { ConnectorError } from "../../contract/mod.ts";

/** A value that can't go where it should; the message says why, in words that follow a column's name and a colon. */
export class BadValue extends Error {
  override readonly name = "BadValue";
}

/** What a write fails with for a value: its column, what is wrong, its row counted from 1, and its type; never itself. */
export function refusedValue(
  error: BadValue,
  { column, row, type }: { readonly column: string; readonly row: bigint; readonly type: string | undefined },
): ConnectorError {
  const kind = type === undefined ? "" : `, ${type}`;
  return new ConnectorError(`Column "${column}": ${error.message} (row ${row} of the write${kind})`, {
    transient: false,
    hint: "change the values in the SELECT, or the column in the table",
    cause: error,
  });
}
