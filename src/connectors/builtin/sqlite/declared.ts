/** What a column is declared to hold, as far as it says so. */
export type Declared =
  | { readonly kind: "decimal"; readonly precision: number; readonly scale: number }
  | {
    readonly kind:
      | "bool"
      | "whole"
      | "float"
      | "text"
      | "blob"
      | "numeric"
      | "date"
      | "time"
      | "timestamp"
      | "timestamptz"
      | "uuid"
      | "json"
      | "none";
  };

/** What SQLite does to values that are put into a column, by its rules for declared types. */
export type Affinity = "integer" | "text" | "blob" | "real" | "numeric";

const KINDS: { readonly [name: string]: Exclude<Declared["kind"], "decimal"> } = {
  BOOL: "bool",
  BOOLEAN: "bool",
  DATE: "date",
  TIME: "time",
  DATETIME: "timestamp",
  TIMESTAMP: "timestamp",
  "TIMESTAMP WITHOUT TIME ZONE": "timestamp",
  TIMESTAMPTZ: "timestamptz",
  "TIMESTAMP WITH TIME ZONE": "timestamptz",
  UUID: "uuid",
  JSON: "json",
  "": "none",
  ANY: "none",
};

const BY_AFFINITY: { readonly [affinity in Affinity]: Exclude<Declared["kind"], "decimal"> } = {
  integer: "whole",
  text: "text",
  blob: "blob",
  real: "float",
  numeric: "numeric",
};

const MAX_DIGITS = 38;

/** SQLite's own rule, in its order. */
export function affinityOf(type: string): Affinity {
  const upper = type.toUpperCase();
  if (upper.includes("INT")) return "integer";
  if (/CHAR|CLOB|TEXT/.test(upper)) return "text";
  if (upper === "" || upper.includes("BLOB")) return "blob";
  if (/REAL|FLOA|DOUB/.test(upper)) return "real";
  return "numeric";
}

/**
 * What a declared type means. `DECIMAL TEXT(38,9)` and `JSON TEXT` are how pz declares decimals and JSON, so that SQLite
 * keeps their texts as they are.
 */
export function declaredOf(type: string): Declared {
  const upper = type.trim().toUpperCase().replaceAll(/\s+/g, " ");
  const [, words = "", first, second] = /^([^(]*?)(?: TEXT)? ?(?:\( ?(\d+) ?(?:, ?(\d+) ?)?\))?$/.exec(upper) ?? [];
  if (words === "DECIMAL" || words === "NUMERIC") {
    const precision = Number(first ?? "0");
    const scale = Number(second ?? "0");
    if (precision < 1 || precision > MAX_DIGITS || scale > precision) return { kind: "numeric" };
    return { kind: "decimal", precision, scale };
  }
  const known = Object.hasOwn(KINDS, words) ? KINDS[words] : undefined;
  return { kind: known ?? BY_AFFINITY[affinityOf(upper)] };
}
