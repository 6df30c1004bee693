import { duckDbType } from "../../contract/mod.ts";
import { type Declared, declaredOf } from "./declared.ts";

/** How a column is read. */
export type ReadRule = {
  /** The type that it arrives in, as DuckDB spells it. */
  readonly type: string;
  readonly declared: Declared;
  /** Why the values arrive in another type than they have; undefined: they don't. */
  readonly notice?: string;
};

const TYPES: { readonly [kind in Exclude<Declared["kind"], "decimal">]: string } = {
  bool: "BOOLEAN",
  whole: "BIGINT",
  float: "DOUBLE",
  text: "VARCHAR",
  blob: "BLOB",
  numeric: "VARCHAR",
  date: "DATE",
  time: "TIME",
  timestamp: "TIMESTAMP",
  timestamptz: "TIMESTAMPTZ",
  uuid: "UUID",
  json: "JSON",
  none: "VARCHAR",
};

/** Types that values can be turned into one by one, each of them exactly or not at all. */
const READABLE =
  /^(?:BOOLEAN|U?(?:TINYINT|SMALLINT|INTEGER|BIGINT)|FLOAT|DOUBLE|DECIMAL\(\d+,\d+\)|VARCHAR|JSON|UUID|BLOB|DATE|TIME|TIMESTAMP|TIMESTAMPTZ)$/;

/** The rule for a column that is declared so; a contract's type, if there is one, takes its place. */
export function readRule(type: string, contract: string | undefined): ReadRule {
  const declared = declaredOf(type);
  const wanted = contract === undefined ? undefined : duckDbType(contract);
  if (wanted !== undefined && READABLE.test(wanted)) return { type: wanted, declared };
  if (declared.kind === "decimal") return { type: `DECIMAL(${declared.precision},${declared.scale})`, declared };
  const rule = { type: TYPES[declared.kind], declared };
  if (declared.kind === "none") {
    return { ...rule, notice: "text, since it is declared without a type; `columns` can name one" };
  }
  if (declared.kind !== "numeric") return rule;
  return { ...rule, notice: `exact text, since "${type}" says no digits; a decimal(p,s) in \`columns\` changes that` };
}
