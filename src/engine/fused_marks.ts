/** SQL that stands around a relation (as SQL). */
export type Around = { readonly before: string; readonly after: string };

/**
 * The same rows and columns as a relation, with a mark by which the profile of a statement tells how many there were.
 * No condition, no limit and no choice of columns passes a mark, so that below it every value is made and judged, as if
 * the relation were a table: the rows travel through one expression whose result DuckDB takes to differ from call to
 * call, though it costs nothing.
 */
export function marked(mark: string): Around {
  const row = `"${mark}"`;
  return {
    before: `SELECT unnest(${row}.data) FROM (SELECT {data: "pz row", mark: current_connection_id()} AS ${row} FROM `,
    after: ` AS "pz row") WHERE ${row}.mark >= 0`,
  };
}

/**
 * How many rows passed each mark, by the JSON that `EXPLAIN (ANALYZE, FORMAT JSON)` gives. A mark that DuckDB left out,
 * since it saw that no row would come, is not in it.
 */
export function markedRows(profile: string): ReadonlyMap<string, number> {
  const rows = new Map<string, number>();
  const visit = (operator: unknown) => {
    const mark = memberOf(memberOf(operator, "extra_info"), "Projections");
    const count = memberOf(operator, "operator_cardinality");
    if (memberOf(operator, "operator_type") === "PROJECTION" && typeof mark === "string" && typeof count === "number") {
      rows.set(mark, Math.max(count, rows.get(mark) ?? 0));
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
