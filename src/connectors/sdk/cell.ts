/**
 * A value of a column, exact: integers beyond 32 bits, decimals (unscaled), times and timestamps (in the column's unit)
 * are `bigint`, dates are days since 1970; a UUID is its text or its 16 bytes; JSON is text. Where a whole number fits
 * 53 bits, `number` may stand for `bigint`.
 */
export type CellValue =
  | null
  | boolean
  | number
  | bigint
  | string
  | Uint8Array
  | Interval
  | readonly CellValue[]
  | ReadonlyMap<CellValue, CellValue>
  | StructValue;

export type StructValue = { readonly [member: string]: CellValue };

/** A span of time in DuckDB's three parts, which do not mix. */
export type Interval = { readonly months: number; readonly days: number; readonly nanos: bigint };

/** Whether a value of a column of intervals is one. */
export function isInterval(value: CellValue): value is Interval {
  return typeof value === "object" && value !== null && "months" in value && "days" in value && "nanos" in value &&
    typeof value.months === "number" && typeof value.days === "number" && typeof value.nanos === "bigint";
}

/** Whether a value of a column of structs is one. */
export function isStruct(value: CellValue): value is StructValue {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Uint8Array) &&
    !(value instanceof Map);
}
