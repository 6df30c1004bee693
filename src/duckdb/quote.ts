/** A name as a quoted SQL identifier. */
export function ident(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** Names joined by dots, each quoted. */
export function qualified(...names: readonly string[]): string {
  return names.map(ident).join(".");
}

/**
 * A text as a SQL string literal.
 *
 * @throws {RangeError} for a NUL character, which DuckDB's SQL can't hold
 */
export function literal(text: string): string {
  if (text.includes("\0")) throw new RangeError("Cannot write a NUL character in SQL");
  return `'${text.replaceAll("'", "''")}'`;
}
