import type { PipelineNode } from "../../compile/mod.ts";
import { type DuckDbError, qualified } from "../../duckdb/mod.ts";
import type { NodeContext, NodeOutcome } from "../run_context.ts";
import { integer, run } from "../statements.ts";

/** Makes the pipeline's relation in staging; a view counts no rows. */
export async function runPipeline(context: NodeContext, node: PipelineNode): Promise<NodeOutcome> {
  const statement = `${pipelinePrefix(node)}${node.sql}`;
  if (node.materialization !== "view") return { rows: Number(await integer(context, statement)) };
  await run(context, statement);
  return { rows: 0 };
}

/** The place in the pipeline's file that an error's position stands for; `prefix` stood before the SQL. */
export function pipelinePlace(
  node: PipelineNode,
  error: DuckDbError,
  prefix = pipelinePrefix(node),
): string | undefined {
  if (error.position === undefined) return undefined;
  const offset = utf16Offset(prefix + node.sql, error.position) - prefix.length;
  if (offset < 0) return undefined;
  const { file, line, column } = node.map.positionAt(offset);
  return `${file}:${line}:${column}`;
}

function pipelinePrefix({ materialization, relation }: PipelineNode): string {
  const kind = materialization === "view" ? "VIEW" : "TABLE";
  return `CREATE OR REPLACE ${kind} ${qualified("staging", relation)} AS\n`;
}

/** The UTF-16 offset of a UTF-8 byte offset. */
function utf16Offset(text: string, byteOffset: number): number {
  const bytes = new TextEncoder().encode(text).subarray(0, byteOffset);
  return new TextDecoder().decode(bytes).length;
}
