const DDL: { readonly [type: string]: string } = {
  int: "INTEGER",
  bigint: "BIGINT",
  double: "DOUBLE",
  decimal: "DECIMAL(38,9)",
  varchar: "VARCHAR",
  boolean: "BOOLEAN",
  date: "DATE",
  timestamp: "TIMESTAMP",
};

/** The SQL type of a type in a `columns:` contract: its own eight words are mapped, DuckDB's names stay as they are. */
export function contractDdl(type: string): string {
  return Object.hasOwn(DDL, type) ? DDL[type] ?? type : type;
}

/** The words that every connector knows in a `columns:` contract. */
export const CONTRACT_TYPES: readonly string[] = Object.keys(DDL);
