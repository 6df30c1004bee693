import { ident, literal } from "../duckdb/mod.ts";

/** SQL that stands around a relation (as SQL). */
export type Around = { readonly before: string; readonly after: string };

/**
 * DuckDB takes this to differ from call to call, so that no condition on it is tried earlier and nothing above it done
 * below; it costs nothing.
 */
const VOLATILE = "current_connection_id()";

/** Columns that travel together: each access to one is planned with the types of all. */
const CHUNK = 32;

/**
 * The same rows and columns as a relation, with a mark by which the profile of a statement tells how many there were.
 * For a relation of whose columns everything that reads it makes use.
 */
export function counted(mark: string): Around {
  return {
    before: `SELECT * EXCLUDE (${ident(mark)}) FROM (SELECT *, ${VOLATILE} AS ${ident(mark)} FROM `,
    after: `) WHERE ${ident(mark)} >= 0`,
  };
}

/**
 * The same for any relation, given its columns: no condition, no limit and no choice of columns passes the mark, so that
 * below it every value is made and judged, as if the relation were a table. For that the values travel through
 * expressions that DuckDB takes to differ from call to call.
 */
export function barred(mark: string, columns: readonly string[]): Around {
  const outer: string[] = [];
  const inner: string[] = [];
  const alive: string[] = [];
  for (let from = 0; from < columns.length; from += CHUNK) {
    const chunk = columns.slice(from, from + CHUNK);
    const row = ident(from === 0 ? mark : `${mark} ${from}`);
    outer.push(...chunk.map((name) => `struct_extract(${row}, ${literal(name)}) AS ${ident(name)}`));
    inner.push(
      `{${chunk.map((name) => `${ident(name)}: ${ident(name)}`).join(", ")}, "pz mark": ${VOLATILE}} AS ${row}`,
    );
    alive.push(`struct_extract(${row}, 'pz mark') >= 0`);
  }
  return {
    before: `SELECT ${outer.join(", ")} FROM (SELECT ${inner.join(", ")} FROM `,
    after: `) WHERE ${alive.join(" AND ")}`,
  };
}

/**
 * How many rows passed each mark, by the JSON that `EXPLAIN (ANALYZE, FORMAT JSON)` gives. A mark that DuckDB left out,
 * since it saw that no row would come, is not in it.
 */
export function markedRows(profile: string): ReadonlyMap<string, number> {
  const rows = new Map<string, number>();
  const visit = (operator: unknown) => {
    const count = memberOf(operator, "operator_cardinality");
    if (memberOf(operator, "operator_type") === "PROJECTION" && typeof count === "number") {
      for (const name of [memberOf(memberOf(operator, "extra_info"), "Projections")].flat()) {
        if (typeof name === "string") rows.set(name, Math.max(count, rows.get(name) ?? 0));
      }
    }
    const children = memberOf(operator, "children");
    if (Array.isArray(children)) children.forEach(visit);
  };
  visit(JSON.parse(profile));
  return rows;
}

function memberOf(value: unknown, key: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined;
}
