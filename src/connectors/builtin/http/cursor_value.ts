import { ConnectorError } from "../../contract/mod.ts";
import type { ColumnBuilder } from "../../sdk/mod.ts";
import { parseDecimal } from "../shared/decimal_text.ts";
import { parseTimestamp } from "../shared/moment_parse.ts";

/** The column of a raw read that tells how far it is; its type is one that orders. */
export type CursorColumn = {
  readonly name: string;
  readonly type: CursorType;
  readonly pointer: readonly string[];
};

/** DuckDB's names of the types that a cursor may have. */
export const CURSOR_TYPES = {
  int: "INTEGER",
  bigint: "BIGINT",
  decimal: "DECIMAL(38,9)",
  date: "DATE",
  timestamp: "TIMESTAMP",
} as const;
export type CursorType = typeof CURSOR_TYPES[keyof typeof CURSOR_TYPES];

const DAY = 86_400_000_000n;

/**
 * Appends a value by its text.
 *
 * @throws {ConnectorError} where the text is none of the type, or would change with it
 */
export function appendCursor(builder: ColumnBuilder, column: CursorColumn, text: string | undefined): void {
  if (text === undefined) return builder.appendNull();
  try {
    if (appended(builder, column.type, text)) return;
  } catch (error) {
    if (!(error instanceof TypeError)) throw error; // out of the type's range
  }
  const shown = text.length > 80 ? `${text.slice(0, 80)}…` : text;
  throw new ConnectorError(`The cursor "${column.name}" holds ${JSON.stringify(shown)}, which is no ${column.type}`, {
    transient: false,
    hint: "declare another cursor_type",
  });
}

function appended(builder: ColumnBuilder, type: CursorType, text: string): boolean {
  switch (type) {
    case "INTEGER":
      if (!/^-?\d{1,10}$/.test(text)) return false;
      builder.appendI32(Number(text));
      return true;
    case "BIGINT":
      if (!/^-?\d{1,19}$/.test(text)) return false;
      builder.appendI64(BigInt(text));
      return true;
    case "DECIMAL(38,9)": {
      const value = parseDecimal(text, 38, 9);
      if (value === undefined) return false;
      builder.appendI128(value);
      return true;
    }
    case "DATE": {
      const micros = microsOf(text);
      if (micros === undefined || micros % DAY !== 0n) return false;
      builder.appendI32(Number(micros / DAY));
      return true;
    }
    case "TIMESTAMP": {
      const micros = microsOf(text);
      if (micros === undefined) return false;
      builder.appendI64(micros);
      return true;
    }
  }
}

/** Microseconds since 1970 of a day or a moment, which is in UTC if it says nothing else; another offset is refused. */
function microsOf(text: string): bigint | undefined {
  return parseTimestamp(text.replace(/(?<=\d)Z$/, ""));
}
