import type { DuckDbError } from "../duckdb/mod.ts";
import { PzError } from "../errors/mod.ts";
import { offsetOfByte } from "./byte_offset.ts";
import type { PipelineNode } from "./dag.ts";

/** What DuckDB says where DESCRIBE, SHOW and the like stand in for a query. */
const NOT_A_SELECT = "CREATE TABLE AS requires a SELECT clause";

/**
 * DuckDB's refusal of a pipeline's SQL as a PZ0401 at its place in the template.
 *
 * @param before the text that stood before the pipeline's SQL in the statement
 * @param pipelines the names of all pipelines with a relation
 */
export function sqlError(
  node: PipelineNode,
  error: DuckDbError,
  before: string,
  pipelines: ReadonlySet<string>,
): PzError {
  const select = error.message === NOT_A_SELECT;
  const text = select ? "it is no SELECT" : (error.message.split("\n", 1)[0] ?? "").replace(/!$/, "");
  const offset = error.position === undefined
    ? 0
    : Math.max(0, offsetOfByte(before + node.sql, error.position) - before.length);
  return new PzError("PZ0401", `pipeline '${node.name}': ${text}`, {
    ...node.map.positionAt(offset),
    hint: select ? "a pipeline is exactly one SELECT" : hintFor(error, pipelines),
    cause: error,
  });
}

function hintFor({ kind, candidates }: DuckDbError, pipelines: ReadonlySet<string>): string | undefined {
  const [candidate] = candidates;
  if (candidate === undefined) return undefined;
  const name = candidate.split(".").at(-1) ?? candidate;
  if (kind === "Catalog" && pipelines.has(name)) return `did you mean {{ ref('${name}') }}?`;
  return `did you mean '${candidate}'?`;
}
