import type { DuckDbConnection } from "../duckdb/mod.ts";
import { PzError } from "../errors/mod.ts";
import type { DagNode, PipelineNode } from "./dag.ts";

/**
 * PZ0705, a warning, for each pipeline whose query gives several columns one name, since DuckDB renames all but the first.
 *
 * @param connection holds the pipelines' relations in the schema `staging`
 */
export async function renamedColumns(
  connection: DuckDbConnection,
  nodes: readonly DagNode[],
): Promise<readonly PzError[]> {
  const numbered = await connection.rows(
    "SELECT DISTINCT table_name FROM duckdb_columns() WHERE schema_name = 'staging' AND NOT internal " +
      "AND regexp_matches(column_name, '_[0-9]+$')",
  );
  const suspects = new Set(numbered.map(([table]) => table));
  const warnings: PzError[] = [];
  for (const node of nodes) {
    // A query with a value that is not known yet can't be planned by itself.
    if (node.kind !== "Pipeline" || node.watermarks.length > 0 || !suspects.has(node.relation)) continue;
    warnings.push(...await warningsOf(connection, node));
  }
  return warnings;
}

async function warningsOf(connection: DuckDbConnection, node: PipelineNode): Promise<readonly PzError[]> {
  const { columns } = await connection.prepare(node.sql);
  const seen = new Set<string>();
  const again = new Set<string>();
  for (const { name } of columns) {
    const folded = name.toLowerCase();
    if (seen.has(folded)) again.add(name);
    seen.add(folded);
  }
  if (again.size === 0) return [];
  const names = [...again].map((name) => `'${name}'`).join(", ");
  const [first = ""] = again;
  return [
    new PzError("PZ0705", `pipeline '${node.name}' selects ${names} more than once; DuckDB numbers what comes later`, {
      ...node.map.positionAt(0),
      hint: `name one of them otherwise, or leave it out: SELECT * EXCLUDE (${first}), or JOIN … USING (${first})`,
    }),
  ];
}
