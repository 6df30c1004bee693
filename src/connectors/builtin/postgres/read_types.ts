import type { Kind, SimpleKind } from "./kind.ts";

/** A type as the catalog describes it. */
export type CatalogType = {
  readonly oid: number;
  readonly name: string;
  /** As SQL spells it, for messages. */
  readonly spelled: string;
  /** `b` base, `c` composite, `d` domain, `e` enum, `r` range, `m` multirange, `p` pseudo. */
  readonly sort: string;
  /** Of an array, the type of its elements; else 0. */
  readonly element: number;
  /** Of a domain, the type below; else 0. */
  readonly base: number;
  /** Of a domain, the modifier that it gives to the type below; else -1. */
  readonly modifier: number;
};

/** How a column of some type is read. */
export type ReadRule = {
  readonly kind: Kind;
  /** What stands after the column's name in the select, such as `::text`. */
  readonly cast: string;
  /** Why the values arrive in another type than they have; undefined: they don't. */
  readonly notice?: string;
};

/**
 * The types that arrive in a type of their own. Every other type arrives as the server's text of it, which the run
 * tells once: money apart, types whose text depends on no setting of the session but those that the connector fixes.
 */
const OWN: { readonly [name: string]: SimpleKind } = {
  bool: "bool",
  int2: "int2",
  int4: "int4",
  int8: "int8",
  oid: "uint4",
  xid: "uint4",
  cid: "uint4",
  float4: "float4",
  float8: "float8",
  text: "text",
  varchar: "text",
  bpchar: "text",
  name: "text",
  char: "text",
  citext: "text",
  unknown: "text",
  bytea: "bytes",
  json: "json",
  jsonb: "jsonb",
  uuid: "uuid",
  date: "date",
  time: "time",
  timestamp: "timestamp",
  timestamptz: "timestamptz",
  interval: "interval",
};

/** Types that are text in all but name, so that nobody needs to be told. */
const TEXT_ALIKE: ReadonlySet<string> = new Set(["xml"]);
const VECTORS: ReadonlySet<string> = new Set(["int2vector", "oidvector"]);
const MAX_DIGITS = 38;

/** Digits and places of a decimal type. */
export type Digits = { readonly precision: number; readonly scale: number };

/**
 * The rule for a type with its modifier. `declared` is what the dataset's contract says about a `numeric` that has no
 * declared digits itself.
 */
export function readRule(
  oid: number,
  modifier: number,
  types: ReadonlyMap<number, CatalogType>,
  declared: Digits | undefined,
): ReadRule {
  const type = types.get(oid);
  if (type === undefined) return asText("a type that the catalog does not hold");
  if (type.base !== 0) return readRule(type.base, modifier >= 0 ? modifier : type.modifier, types, declared);
  if (type.sort === "e") return { kind: { kind: "text" }, cast: "" };
  if (type.name === "numeric") return numericRule(modifier, declared);
  if (type.name === "money") {
    return { kind: { kind: "decimal", precision: 19, scale: 2 }, cast: "::numeric" };
  }
  if (type.element !== 0 && !VECTORS.has(type.name)) {
    const element = readRule(type.element, modifier, types, declared);
    if (element.kind.kind === "list") return asText(type.spelled);
    const cast = element.cast === "" ? "" : `${element.cast}[]`;
    const kind: Kind = { kind: "list", element: element.kind };
    return element.notice === undefined ? { kind, cast } : {
      kind,
      cast,
      notice: `lists of texts, since DuckDB has nothing like ${type.spelled}`,
    };
  }
  const own = Object.hasOwn(OWN, type.name) ? OWN[type.name] : undefined;
  if (own !== undefined) return { kind: { kind: own }, cast: "" };
  return TEXT_ALIKE.has(type.name) ? { kind: { kind: "text" }, cast: "::text" } : asText(type.spelled);
}

function asText(spelled: string): ReadRule {
  return {
    kind: { kind: "text" },
    cast: "::text",
    notice: `the server's text, since DuckDB has nothing like ${spelled}`,
  };
}

function numericRule(modifier: number, declared: Digits | undefined): ReadRule {
  const digits = modifier >= 0 ? digitsOf(modifier) : declared;
  if (digits !== undefined && fits(digits)) return { kind: { kind: "decimal", ...digits }, cast: "" };
  const spelled = digits === undefined ? "numeric without a precision" : `numeric(${digits.precision},${digits.scale})`;
  return {
    kind: { kind: "text" },
    cast: "::text",
    notice: `exact text, since no decimal of DuckDB holds every ${spelled}; a decimal(p,s) in \`columns\` changes that`,
  };
}

function fits({ precision, scale }: Digits): boolean {
  return precision >= 1 && precision <= MAX_DIGITS && scale >= 0 && scale <= precision;
}

/** The digits in a modifier of numeric; the scale has 11 bits and a sign since version 15. */
export function digitsOf(modifier: number): Digits {
  const packed = modifier - 4;
  return { precision: (packed >> 16) & 0xffff, scale: ((packed & 0x7ff) ^ 1024) - 1024 };
}
