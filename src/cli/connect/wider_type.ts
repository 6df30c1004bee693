/** Bits, whether there is a sign, and the most digits. */
const INTEGERS: { readonly [type: string]: readonly [bits: number, signed: boolean, digits: number] } = {
  TINYINT: [8, true, 3],
  SMALLINT: [16, true, 5],
  INTEGER: [32, true, 10],
  BIGINT: [64, true, 19],
  HUGEINT: [128, true, 39],
  UTINYINT: [8, false, 3],
  USMALLINT: [16, false, 5],
  UINTEGER: [32, false, 10],
  UBIGINT: [64, false, 20],
  UHUGEINT: [128, false, 39],
};

/** Whether a type (as DuckDB's text) takes every value of another without a change: it is the same, or a wider one of its kind. */
export function holdsAll(type: string, other: string): boolean {
  if (type === other) return true;
  const [wide, narrow] = [INTEGERS[type], INTEGERS[other]];
  if (wide !== undefined && narrow !== undefined) {
    return wide[0] > narrow[0] && (wide[1] || !narrow[1]);
  }
  const into = decimalOf(type);
  const from = narrow === undefined ? decimalOf(other) : { whole: narrow[2], scale: 0 };
  if (into !== undefined && from !== undefined) return into.scale >= from.scale && into.whole >= from.whole;
  return type === "DOUBLE" && other === "FLOAT" || type === "VARCHAR" && other.startsWith("ENUM(");
}

function decimalOf(type: string): { readonly whole: number; readonly scale: number } | undefined {
  const match = /^DECIMAL\((\d+),(\d+)\)$/.exec(type);
  if (match === null) return undefined;
  const scale = Number(match[2]);
  return { whole: Number(match[1]) - scale, scale };
}
