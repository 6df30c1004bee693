import type { TypedText } from "../dag.ts";
import { child, text, type Tree } from "../sql_tree.ts";

/** The families of types whose comparisons mean the same in every system. */
export type Family = "number" | "date" | "timestamp" | "boolean" | "text";

export type Constant = TypedText & { readonly family: Family };

const WHOLE = new Set(["TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT"]);
const DATE = /^\d{4}-\d{2}-\d{2}$/;
const TIMESTAMP = /^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}:\d{2}(?:\.\d{1,6})?$/;

/** A constant whose text is exact in every system, or undefined. */
export function constantOf(tree: Tree): Constant | undefined {
  if (text(tree, "class") === "CONSTANT") return plainConstant(tree);
  const inner = child(tree, "child");
  if (text(tree, "class") !== "CAST" || tree["try_cast"] === true || text(inner, "class") !== "CONSTANT") {
    return undefined;
  }
  const value = child(inner, "value")?.["value"];
  if (typeof value !== "string" || typeId(child(inner, "value")) !== "VARCHAR") return undefined;
  const type = text(child(tree, "cast_type"), "id");
  if (type === "DATE" && DATE.test(value)) return { family: "date", type, text: value };
  if (type === "TIMESTAMP" && (TIMESTAMP.test(value) || DATE.test(value))) {
    return { family: "timestamp", type, text: DATE.test(value) ? `${value} 00:00:00` : value.replace("T", " ") };
  }
  if (type === "BOOLEAN" && (value === "t" || value === "f")) {
    return { family: "boolean", type, text: value === "t" ? "true" : "false" };
  }
  return undefined;
}

function plainConstant(tree: Tree): Constant | undefined {
  const holder = child(tree, "value");
  if (holder === undefined || holder["is_null"] !== false) return undefined;
  const { value } = holder;
  const type = typeId(holder);
  if (WHOLE.has(type) && (typeof value === "bigint" || (typeof value === "number" && Number.isSafeInteger(value)))) {
    return { family: "number", type, text: value.toString() };
  }
  if (type === "VARCHAR" && typeof value === "string" && !value.includes("\0")) {
    return { family: "text", type, text: value };
  }
  if (type === "BOOLEAN" && typeof value === "boolean") return { family: "boolean", type, text: String(value) };
  if (type === "DECIMAL" && (typeof value === "bigint" || (typeof value === "number" && Number.isSafeInteger(value)))) {
    return decimal(child(child(holder, "type"), "type_info"), BigInt(value));
  }
  return undefined;
}

function typeId(holder: Tree | undefined): string {
  return text(child(holder, "type"), "id");
}

/** DuckDB keeps a decimal as a whole number and a scale. */
function decimal(info: Tree | undefined, units: bigint): Constant | undefined {
  const width = info?.["width"];
  const scale = info?.["scale"];
  if (typeof width !== "number" || typeof scale !== "number") return undefined;
  const digits = (units < 0n ? -units : units).toString().padStart(scale + 1, "0");
  const whole = digits.slice(0, digits.length - scale);
  const fraction = scale === 0 ? "" : `.${digits.slice(-scale)}`;
  return { family: "number", type: `DECIMAL(${width},${scale})`, text: `${units < 0n ? "-" : ""}${whole}${fraction}` };
}
