import { type DuckDbConnection, literal, type SqlAst } from "../../duckdb/mod.ts";
import { type ErrorCode, formatError, PzError } from "../../errors/mod.ts";
import { nearMiss } from "../../util/mod.ts";
import { offsetOfByte } from "../byte_offset.ts";
import type { SqlWatermark, WatermarkBound } from "../dag.ts";
import type { SourceEntity } from "../entities.ts";
import type { PipelineLinks } from "../links.ts";
import { entityKey } from "../names.ts";
import { byteOffset, text, type Tree, walk } from "../sql_tree.ts";
import type { QueryTree } from "../statements.ts";
import { CURSOR_TYPES, isCursorType } from "./cursor_value.ts";
import { watermarksOf } from "./watermark_calls.ts";
import { type WatermarkComparison, watermarkComparisons } from "./watermark_shape.ts";

export type SqlWatermarks = {
  /** By entity key. */
  readonly byKey: ReadonlyMap<string, SqlWatermark>;
  readonly errors: readonly PzError[];
  readonly notices: readonly string[];
};

const NONE: SqlWatermarks = { byKey: new Map(), errors: [], notices: [] };

/** A comparison, whose it is, and how to say what is wrong with it. */
type Found = WatermarkComparison & {
  readonly pipeline: string;
  readonly source: SourceEntity;
  readonly add: (code: ErrorCode, message: string, hint: string) => void;
};

/**
 * What the comparisons with `watermark()` in SQL say of each source: its cursor and the bounds of its rows. PZ0224 for a
 * call that is no such comparison, PZ0231 where they differ in the cursor, PZ0227 for a cursor that can't be one, PZ0351
 * for an end without a start.
 */
export async function sqlWatermarks(
  connection: () => Promise<DuckDbConnection>,
  links: readonly PipelineLinks[],
  trees: ReadonlyMap<string, QueryTree>,
  sources: readonly SourceEntity[],
): Promise<SqlWatermarks> {
  const errors: PzError[] = [];
  const found: Found[] = [];
  for (const link of links) {
    const tree = trees.get(link.query.rendered.pipeline.name);
    if (tree !== undefined && watermarksOf(link).length > 0) found.push(...comparisonsOf(link, tree, sources, errors));
  }
  if (found.length === 0) return { ...NONE, errors };
  await checkFunctions(await connection(), found);
  const byKey = new Map<string, SqlWatermark>();
  const notices: string[] = [];
  for (const [source, own] of groupBySource(found)) {
    const cursor = cursorOf(source, own, notices);
    const bounds: WatermarkBound[] = [];
    for (const { pipeline, sentinel, upper, inclusive, value } of own) {
      bounds.push({ pipeline, sentinel, upper, inclusive, value: await sqlOf(await connection(), value) });
    }
    byKey.set(entityKey(source.connection.name, source.entity), { cursor, bounds });
  }
  return { byKey, errors, notices };
}

function comparisonsOf(
  link: PipelineLinks,
  { statement, shift }: QueryTree,
  sources: readonly SourceEntity[],
  errors: PzError[],
): readonly Found[] {
  const calls = new Map(watermarksOf(link).map((call) => [call.sentinel, call]));
  const { comparisons, misuses } = watermarkComparisons(statement, new Set(calls.keys()));
  const adder = (sentinel: string, place: Tree) => (code: ErrorCode, message: string, hint: string) => {
    const call = calls.get(sentinel);
    const byte = byteOffset(place);
    const position = byte === undefined
      ? call?.position
      : link.executed.map.positionAt(offsetOfByte(link.executed.sql, byte - shift));
    const what = `watermark('${call?.connection}', '${call?.entity}')`;
    const error = new PzError(code, `${what} ${message}`, { ...position, hint });
    // Every pipeline that inlines an ephemeral one finds the same.
    if (!errors.some((other) => formatError(other) === formatError(error))) errors.push(error);
  };
  for (const { sentinel, place, message, hint } of misuses) adder(sentinel, place)("PZ0224", message, hint);
  return comparisons.flatMap((comparison) => {
    const call = calls.get(comparison.sentinel);
    const source = sources.find((one) => one.connection.name === call?.connection && one.entity === call.entity);
    const add = adder(comparison.sentinel, comparison.place);
    if (source?.relation.toLowerCase() !== comparison.relation) {
      add(
        "PZ0224",
        `is compared with '${comparison.column}' of another source`,
        `compare it with a column of {{ source('${call?.connection}', '${call?.entity}') }}`,
      );
      return [];
    }
    return [{ ...comparison, pipeline: link.query.rendered.pipeline.name, source, add }];
  });
}

function groupBySource(found: readonly Found[]): ReadonlyMap<SourceEntity, readonly Found[]> {
  const groups = new Map<SourceEntity, Found[]>();
  for (const one of found) {
    const group = groups.get(one.source);
    if (group === undefined) groups.set(one.source, [one]);
    else group.push(one);
  }
  return groups;
}

/** Refuses functions whose result is not known before the rows are read. */
async function checkFunctions(connection: DuckDbConnection, found: readonly Found[]): Promise<void> {
  const called = found.map(({ value }) => functionsIn(value));
  const names = [...new Set(called.flatMap((own) => [...own]))];
  if (names.length === 0) return;
  const rows = await connection.rows(
    `SELECT function_name, bool_and(function_type = 'scalar' AND coalesce(stability, '') = 'CONSISTENT') ` +
      `FROM duckdb_functions() WHERE function_name IN (${names.map(literal).join(", ")}) GROUP BY ALL`,
  );
  const consistent = new Map(rows.map(([name, steady]) => [name ?? "", steady === "true"]));
  for (const [index, { add }] of found.entries()) {
    for (const name of called[index] ?? []) {
      if (consistent.get(name) === true) continue;
      const why = consistent.has(name) ? "which gives no fixed value" : "which DuckDB does not know";
      add("PZ0224", `is compared together with '${name}()', ${why}`, "a value beside watermark() is made of constants");
    }
  }
}

function functionsIn(value: Tree): ReadonlySet<string> {
  const names = new Set<string>();
  walk(value, (tree) => {
    if (text(tree, "class") === "FUNCTION") names.add(text(tree, "function_name").toLowerCase());
  });
  return names;
}

/** The one cursor of a source's comparisons, after saying what is wrong with it. */
function cursorOf(source: SourceEntity, found: readonly Found[], notices: string[]): string {
  const [first] = found;
  const column = first?.column ?? "";
  for (const { column: other, add } of found) {
    if (other.toLowerCase() === column.toLowerCase()) continue;
    add("PZ0231", `is compared with '${other}', and elsewhere with '${column}'`, "follow one column of a source");
  }
  if (found.every(({ upper }) => upper)) {
    first?.add("PZ0351", "says where the rows end, and nothing says where they begin", "compare by > or >= as well");
  }
  const { columns } = source.read;
  const declared = columns?.find(({ name }) => name.toLowerCase() === column.toLowerCase());
  if (columns === undefined) {
    const name = `${source.connection.name}.${source.entity}`;
    notices.push(`the cursor '${column}' of '${name}' is unverified until the first run: it has no columns: contract`);
  } else if (declared === undefined) {
    const meant = nearMiss(column, columns.map(({ name }) => name));
    first?.add(
      "PZ0227",
      `is compared with '${column}', which is not in the columns: contract`,
      meant === undefined ? `add '${column}' to columns` : `did you mean '${meant}'?`,
    );
  } else if (!isCursorType(declared.type)) {
    const types = `a cursor is ${CURSOR_TYPES.join(", ")}`;
    first?.add("PZ0227", `is compared with '${column}', which has the type '${declared.type}'`, types);
  }
  return declared?.name ?? column;
}

/** The SQL of an expression. */
async function sqlOf(connection: DuckDbConnection, value: Tree): Promise<string> {
  const node: SqlAst = {
    type: "SELECT_NODE",
    modifiers: [],
    cte_map: { map: [] },
    select_list: [value],
    from_table: { type: "EMPTY", alias: "", sample: null, query_location: 0 },
    where_clause: null,
    group_expressions: [],
    group_sets: [],
    aggregate_handling: "STANDARD_HANDLING",
    having: null,
    sample: null,
    qualify: null,
  };
  const sql = await connection.deserializeSql({ error: false, statements: [{ node, named_param_map: [] }] });
  return sql.replace(/^SELECT /, "");
}
