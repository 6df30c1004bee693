import type { DuckDbError } from "../duckdb/mod.ts";
import { PzError } from "../errors/mod.ts";
import { maskOf } from "../util/mod.ts";
import { offsetOfByte } from "./byte_offset.ts";
import type { CompiledDag, PipelineNode } from "./dag.ts";
import { hintFor, ONE_SELECT, tableHint } from "./sql_hint.ts";
import { onlyOccurrence } from "./sql_text.ts";

/** What DuckDB says where DESCRIBE, SHOW and the like stand in for a query. */
const NOT_A_SELECT = "CREATE TABLE AS requires a SELECT clause";

/** A text of SQL as the user wrote it, and what stood before it in the statement that failed. */
export type Refused = { readonly sql: string; readonly before: string };

/** A pipeline's SQL, of the length that it has in its node, and what stood before it in the statement that failed. */
export type Attempt = Refused & { readonly node: PipelineNode };

/** What is wrong with a text of SQL, in one line, and the offset in it that is to blame. */
export type Refusal = { readonly message: string; readonly offset: number };

/** DuckDB's refusal of a pipeline's SQL as a PZ0401 at its place in the template. */
export function sqlError({ node, ...refused }: Attempt, error: DuckDbError, dag: CompiledDag): PzError {
  const { message, offset } = refusalOf(refused, error);
  const hint = error.message === NOT_A_SELECT
    ? ONE_SELECT
    : hintFor(error, refused.sql, offset, (name) => tableHint(name, node.name, dag));
  // DuckDB quotes what it could not read, and that may be a value of env().
  const masked = maskOf(node.secrets ?? []);
  return new PzError("PZ0401", `pipeline '${node.name}': ${masked(message)}`, {
    ...node.map.positionAt(offset),
    hint: hint === undefined ? undefined : masked(hint),
  });
}

/** DuckDB's refusal in one line. Where DuckDB names no place, a name in its message that stands in the SQL once does. */
export function refusalOf({ sql, before }: Refused, error: DuckDbError): Refusal {
  if (error.message === NOT_A_SELECT) return { message: "it is no SELECT", offset: 0 };
  const message = (error.message.split("\n", 1)[0] ?? "").replace(/!$/, "");
  if (error.position !== undefined) {
    const offset = Math.max(0, offsetOfByte(before + sql, error.position) - before.length);
    return { message: message.replace(/(?<=at or near )"staging"$/, `"${relationAt(sql, offset)}"`), offset };
  }
  for (const [, quoted, single, bare] of message.matchAll(/"([^"]+)"|'([^']+)'|\bcolumn (\w+) must\b/g)) {
    const offset = onlyOccurrence(sql, quoted ?? single ?? bare ?? "");
    if (offset !== undefined) return { message, offset };
  }
  return { message, offset: 0 };
}

/** The whole name of the relation at an offset, since users know its second half only. */
function relationAt(sql: string, offset: number): string {
  return /^staging\.\w+/.exec(sql.slice(offset))?.[0] ?? "staging";
}
