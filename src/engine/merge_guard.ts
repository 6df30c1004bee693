import { sinkProblems, type SinkWriteNode } from "../compile/mod.ts";
import { ident, qualified } from "../duckdb/mod.ts";
import { PzError, PzErrors } from "../errors/mod.ts";
import type { NodeContext } from "./run_context.ts";
import { columnsOf, rows } from "./statements.ts";

/**
 * Looks at the keys of what a merge is about to write. Keys that it does not have and rows without a whole key stop it; several rows of one key are
 * told, since only one of each will remain, unless the project says which.
 * Returns how many rows that makes too many.
 *
 * @throws {PzError} PZ0521
 * @throws {PzErrors} PZ0401
 */
export async function guardMerge(context: NodeContext, node: SinkWriteNode): Promise<number> {
  const { strategy, keys, orderBy } = node.write;
  if (strategy !== "merge" || keys.length === 0) return 0;
  const relation = qualified("staging", node.relation);
  // Told before the run where the columns are known then; those of a source without a contract are known only now.
  const absent = sinkProblems(node, (await columnsOf(context, relation)).map(({ name }) => name));
  if (absent.length > 0) throw new PzErrors(absent);
  await refuseNullKeys(context, node, relation);
  if (orderBy !== undefined) return 0;
  const names = keys.map(ident).join(", ");
  const [[groups, extra] = []] = await rows(
    context,
    `SELECT count(*), coalesce(sum(n - 1), 0) FROM ` +
      `(SELECT count(*) AS n FROM ${relation} GROUP BY ${names} HAVING count(*) > 1)`,
  );
  const duplicateGroups = Number(groups ?? 0);
  if (duplicateGroups === 0) return 0;
  const extraRows = Number(extra ?? 0);
  context.run.bus.publish({
    event: "merge_key_duplicates_detected",
    nodeId: node.id,
    connection: node.connection.name,
    output: node.entity,
    keys: [...keys],
    duplicateGroups,
    extraRows,
  });
  return extraRows;
}

async function refuseNullKeys(
  context: NodeContext,
  { entity, write: { keys } }: SinkWriteNode,
  relation: string,
): Promise<void> {
  const isNull = keys.map((key) => `${ident(key)} IS NULL`);
  const counts = [isNull.join(" OR "), ...isNull].map((test) => `count(*) FILTER (WHERE ${test})`);
  const [[total = "0", ...each] = []] = await rows(context, `SELECT ${counts.join(", ")} FROM ${relation}`);
  if (total === "0") return;
  const where = keys.flatMap((key, index) => each[index] === "0" ? [] : [`"${key}": ${each[index]}`]).join(", ");
  const what = total === "1" ? "1 row has" : `${total} rows have`;
  throw new PzError("PZ0521", `Output '${entity}' can't be merged: ${what} NULL in a key column (${where})`, {
    hint: "filter these rows out in the pipeline or give them a key",
  });
}
