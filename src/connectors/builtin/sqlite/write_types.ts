import { DataType, type Field } from "../../../util/arrow.ts";
import { sortOf, type ValueSort } from "../shared/value_sort.ts";
import { type Affinity, affinityOf, type Declared, declaredOf } from "./declared.ts";

/** A column's type in the database. */
export type TargetType = {
  /** As it was declared. */
  readonly spelled: string;
  readonly declared: Declared;
  readonly affinity: Affinity;
  readonly isNullable: boolean;
};

/** The type of a column that was declared so. */
export function targetType(spelled: string, isNullable: boolean): TargetType {
  return { spelled, declared: declaredOf(spelled), affinity: affinityOf(spelled), isNullable };
}

type Kind = Declared["kind"];

/**
 * The declared types that take values of a sort as they are. Texts may go only where SQLite does not look for numbers in
 * them; each value is checked, and refused where it would change.
 */
const TAKES: { readonly [sort in Exclude<ValueSort, "list" | "null" | "interval">]: readonly Kind[] } = {
  integer: ["whole", "decimal", "numeric"],
  decimal: ["decimal", "numeric"],
  hugeint: ["whole", "decimal", "numeric"],
  uhugeint: ["whole", "decimal", "numeric"],
  float4: ["float"],
  float8: ["float"],
  bool: ["bool"],
  text: [],
  json: ["json"],
  bytes: ["blob"],
  uuid: ["uuid"],
  date: ["date"],
  time: ["time"],
  timestamp: ["timestamp"],
  timestamptz: ["timestamptz"],
};

/** Sorts whose text says all that the value is, so that a column of texts keeps it. */
const AS_TEXT: ReadonlySet<ValueSort> = new Set([
  "decimal",
  "hugeint",
  "uhugeint",
  "text",
  "json",
  "uuid",
  "date",
  "time",
  "timestamp",
  "timestamptz",
]);

/** Whether a column of the type takes the field's values. */
export function takes(field: Field, { declared, affinity, spelled }: TargetType): boolean {
  const sort = sortOf(field);
  if (sort === undefined || sort === "list" || sort === "interval") return false;
  if (sort === "null" || spelled === "" || spelled.toUpperCase() === "ANY") return true;
  if (declared.kind === "text" && affinity === "text") return AS_TEXT.has(sort);
  // SQLite would make a number of a text like 1.50.
  if (sort === "json" && affinity !== "text") return false;
  if (sort === "decimal" && declared.kind === "whole") return DataType.isDecimal(field.type) && field.type.scale === 0;
  return TAKES[sort].includes(declared.kind);
}

/** The column type that a new table gets for a field; undefined: there is none. */
export function newColumnType(field: Field): string | undefined {
  const type: DataType = field.type;
  switch (sortOf(field)) {
    case undefined:
    case "list":
    case "interval":
      return undefined;
    case "integer":
      if (!DataType.isInt(type)) return undefined;
      return type.bitWidth === 64 && !type.isSigned ? "DECIMAL TEXT(20,0)" : "INTEGER";
    case "decimal":
      return DataType.isDecimal(type) ? `DECIMAL TEXT(${type.precision},${type.scale})` : undefined;
    case "hugeint":
    case "uhugeint":
      return "DECIMAL TEXT(39,0)";
    case "float4":
    case "float8":
      return "DOUBLE";
    case "bool":
      return "BOOLEAN";
    case "text":
    case "null":
      return "TEXT";
    case "json":
      return "JSON TEXT";
    case "bytes":
      return "BLOB";
    case "uuid":
      return "UUID";
    case "date":
      return "DATE";
    case "time":
      return "TIME";
    case "timestamp":
      return "TIMESTAMP";
    case "timestamptz":
      return "TIMESTAMPTZ";
  }
}
