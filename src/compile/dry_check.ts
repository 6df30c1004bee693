import { type DuckDbConnection, DuckDbError } from "../duckdb/mod.ts";
import { PzError } from "../errors/mod.ts";
import type { SourcePosition } from "../project/mod.ts";
import { nearMiss } from "../util/mod.ts";
import type { CheckNode } from "./dag.ts";
import { refusalOf } from "./sql_error.ts";
import { hintFor } from "./sql_hint.ts";
import { trimQuery } from "./sql_text.ts";

const MAX_COLUMNS = 10;

/**
 * What is wrong with a check: columns that its pipeline does not have (PZ0113), SQL that DuckDB refuses (PZ0401).
 *
 * @param columns those of the pipeline; undefined: not known, so that SQL is read but not bound
 */
export async function checkProblems(
  connection: DuckDbConnection,
  node: CheckNode,
  columns: readonly string[] | undefined,
): Promise<readonly PzError[]> {
  if (node.check.sql !== undefined) {
    const problem = await queryProblem(connection, node, node.check.sql, columns !== undefined);
    return problem === undefined ? [] : [problem];
  }
  if (columns === undefined) return [];
  // DuckDB tells names apart without their case.
  const known = new Set(columns.map((column) => column.toLowerCase()));
  return node.check.columns.flatMap((column, index) =>
    known.has(column.toLowerCase()) ? [] : [missingColumn(node, column, index, columns)]
  );
}

function missingColumn({ check, pipeline }: CheckNode, column: string, index: number, columns: readonly string[]) {
  const meant = nearMiss(column, columns);
  const more = columns.length > MAX_COLUMNS ? ", …" : "";
  return new PzError(
    "PZ0113",
    `a check '${check.type}' names the column '${column}', which pipeline '${pipeline}' does not have`,
    {
      ...(check.places?.columns[index] ?? check.position),
      hint: meant === undefined
        ? `its columns are ${columns.slice(0, MAX_COLUMNS).join(", ")}${more}`
        : `did you mean '${meant}'?`,
    },
  );
}

async function queryProblem(
  connection: DuckDbConnection,
  node: CheckNode,
  text: string,
  bind: boolean,
): Promise<PzError | undefined> {
  const { check, relation } = node;
  const sql = trimQuery(text);
  const name = `check '${check.name ?? node.name}'`;
  let before = "";
  try {
    const statements = await connection.statementCount(sql);
    if (statements !== 1) {
      const found = statements === 0 ? "holds no query" : `holds ${statements} statements`;
      return new PzError("PZ0401", `${name} ${found}`, { ...placeIn(check, 0), hint: "a check is exactly one SELECT" });
    }
    before = "SELECT count(*) FROM (\n";
    const counting = `${before}${sql}\n)`;
    if (bind) await connection.prepare(counting);
    else await connection.statementCount(counting);
    return undefined;
  } catch (error) {
    if (!(error instanceof DuckDbError)) throw error;
    if (error.kind === "Permission") return undefined;
    const { message, offset } = refusalOf({ sql, before }, error);
    const own = `the rows of the pipeline stand in staging.${relation}`;
    const template = /^.?\{[{%]/s.test(sql.slice(Math.max(0, offset - 1)));
    return new PzError("PZ0401", `${name}: ${message}`, {
      ...placeIn(check, offset),
      hint: template
        ? `the SQL of a check is no template; ${own}`
        : hintFor(error, sql, offset, () => own)?.replace("a pipeline is", "a check is"),
      cause: error,
    });
  }
}

/** The place in the sidecar of an offset in a check's SQL. */
function placeIn({ sql = "", places, position }: CheckNode["check"], offset: number): SourcePosition {
  const before = sql.slice(0, offset).split("\n");
  const line = places?.sqlLines?.[before.length - 1];
  return line === undefined ? position : { ...line, column: line.column + (before.at(-1)?.length ?? 0) };
}
