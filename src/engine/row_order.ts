import type { PipelineNode } from "../compile/mod.ts";
import { type DuckDbConnection, qualified } from "../duckdb/mod.ts";
import type { NodeContext } from "./run_context.ts";

/**
 * What to read a staged relation from so that its rows come in the order that the user asked for. A table is filled in
 * the order of an ORDER BY that ends its query, but read in any order; its row ids bring that order back. Elsewhere
 * SQL's own rule holds: no ORDER BY, no order.
 */
export async function orderedRelation(context: NodeContext, relation: string): Promise<string> {
  const table = qualified("staging", relation);
  if (context.run.pipelines.get(relation)?.materialization !== "table") return table;
  return await isOrdered(context, relation) ? `(SELECT * FROM ${table} ORDER BY rowid)` : table;
}

/** Whether the rows of a pipeline's relation have an order that their row ids, or those of a copy, stand for. */
export async function isOrdered({ run, connection }: NodeContext, relation: string): Promise<boolean> {
  const pipeline = run.pipelines.get(relation);
  if (run.project.engine.preserveOrder || pipeline === undefined) return false;
  return await endsOrdered(connection, pipeline);
}

/** Whether an ORDER BY ends the pipeline's query; also true where DuckDB can't tell. */
async function endsOrdered(connection: DuckDbConnection, { sql }: PipelineNode): Promise<boolean> {
  try {
    const [statement] = listAt(await connection.serializeSql(sql), "statements");
    return listAt(memberOf(statement, "node"), "modifiers").some((modifier) =>
      memberOf(modifier, "type") === "ORDER_MODIFIER"
    );
  } catch {
    return true;
  }
}

function memberOf(value: unknown, key: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined;
}

function listAt(value: unknown, key: string): readonly unknown[] {
  const list = memberOf(value, key);
  return Array.isArray(list) ? list : [];
}
