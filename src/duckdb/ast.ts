/** A value of DuckDB's JSON form of a parsed statement. Integers beyond 2^53 are `bigint`, so that none is rounded. */
export type SqlAst =
  | null
  | boolean
  | number
  | bigint
  | string
  | readonly SqlAst[]
  | { readonly [key: string]: SqlAst };

/** As many digits as an integer has at least that a number can't hold exactly. */
const LONG_NUMBER_REGEXP = /\d{16}/;

/** Reads DuckDB's JSON text without rounding an integer. */
export function parseAst(text: string): SqlAst {
  // Looking at every member takes many times longer, and integers that long are rare.
  return LONG_NUMBER_REGEXP.test(text) ? JSON.parse(text, exactInteger) : JSON.parse(text);
}

function exactInteger(_key: string, value: unknown, context?: { readonly source?: string }): unknown {
  if (typeof value !== "number" || Number.isSafeInteger(value)) return value;
  const source = context?.source;
  return source !== undefined && /^-?\d+$/.test(source) ? BigInt(source) : value;
}

/** The JSON text of a tree, with every integer exact. */
export function writeAst(ast: SqlAst): string {
  switch (typeof ast) {
    case "bigint":
      return ast.toString();
    case "number":
      return Object.is(ast, -0) ? "-0.0" : JSON.stringify(ast);
    case "object":
      if (ast === null) return "null";
      if (isList(ast)) return `[${ast.map(writeAst).join(",")}]`;
      return `{${Object.entries(ast).map(([key, value]) => `${JSON.stringify(key)}:${writeAst(value)}`).join(",")}}`;
    default:
      return JSON.stringify(ast);
  }
}

function isList(ast: object): ast is readonly SqlAst[] {
  return Array.isArray(ast);
}
