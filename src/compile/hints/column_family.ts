import { contractDdl } from "../contract_types.ts";
import type { Constant, Family } from "./literal.ts";

const FAMILIES: { readonly [type: string]: Family } = {
  TINYINT: "number",
  SMALLINT: "number",
  INTEGER: "number",
  INT: "number",
  BIGINT: "number",
  UTINYINT: "number",
  USMALLINT: "number",
  UINTEGER: "number",
  UBIGINT: "number",
  HUGEINT: "number",
  DECIMAL: "number",
  NUMERIC: "number",
  VARCHAR: "text",
  TEXT: "text",
  BOOLEAN: "boolean",
  DATE: "date",
  TIMESTAMP: "timestamp",
};

/**
 * A constant as it compares with a column of a contract's type, or undefined where DuckDB would change one of the two
 * first in a way that another system may not know. Floating-point numbers are left out: systems sort NaN differently.
 */
export function fitted(constant: Constant, type: string): Constant | undefined {
  const name = contractDdl(type).toUpperCase().replace(/\s*\(.*$/s, "");
  const family = Object.hasOwn(FAMILIES, name) ? FAMILIES[name] : undefined;
  if (family === constant.family) return constant;
  if (family === "timestamp" && constant.family === "date") {
    return { family, type: "TIMESTAMP", text: `${constant.text} 00:00:00` };
  }
  return undefined;
}
