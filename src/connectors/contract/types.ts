const SIMPLE: { readonly [name: string]: string } = {
  int: "INTEGER",
  integer: "INTEGER",
  bigint: "BIGINT",
  smallint: "SMALLINT",
  tinyint: "TINYINT",
  hugeint: "HUGEINT",
  utinyint: "UTINYINT",
  usmallint: "USMALLINT",
  uinteger: "UINTEGER",
  uint: "UINTEGER",
  ubigint: "UBIGINT",
  float: "FLOAT",
  real: "FLOAT",
  double: "DOUBLE",
  decimal: "DECIMAL(38,9)",
  numeric: "DECIMAL(38,9)",
  varchar: "VARCHAR",
  text: "VARCHAR",
  string: "VARCHAR",
  boolean: "BOOLEAN",
  bool: "BOOLEAN",
  date: "DATE",
  time: "TIME",
  timestamp: "TIMESTAMP",
  timestamptz: "TIMESTAMPTZ",
  "timestamp with time zone": "TIMESTAMPTZ",
  uuid: "UUID",
  json: "JSON",
  blob: "BLOB",
};

/**
 * The DuckDB type that a type of a `columns:` contract stands for, or undefined for an unknown one. The names are the
 * eight of the contract (`int bigint double decimal varchar boolean date timestamp`) and DuckDB's own scalar names;
 * `decimal` alone is DECIMAL(38,9). Case and blanks around do not matter.
 */
export function duckDbType(type: string): string | undefined {
  const name = type.trim().toLowerCase().replaceAll(/\s+/g, " ");
  if (Object.hasOwn(SIMPLE, name)) return SIMPLE[name];
  const decimal = /^(?:decimal|numeric) ?\( ?(\d{1,2}) ?(?:, ?(\d{1,2}) ?)?\)$/.exec(name);
  if (decimal === null) return undefined;
  const precision = Number(decimal[1]);
  const scale = Number(decimal[2] ?? "0");
  if (precision < 1 || precision > 38 || scale > precision) return undefined;
  return `DECIMAL(${precision},${scale})`;
}
