import { PzError } from "../errors/mod.ts";
import { nearMiss } from "../util/mod.ts";
import type { SinkWriteNode } from "./dag.ts";
import { orderTerm } from "./order_term.ts";

const MAX_COLUMNS = 10;

/** Whether a sink's options name columns of the rows that it writes. */
export function namesColumns({ write }: SinkWriteNode): boolean {
  return write.strategy === "merge" && write.keys.length > 0;
}

/** PZ0401 for each column by which a merge is told to work and which its rows do not have. */
export function sinkProblems(node: SinkWriteNode, columns: readonly string[]): readonly PzError[] {
  const { keys, orderBy = [] } = node.write;
  const entity = node.connection.entities[node.entity];
  // A write is declared as a whole in one place, the file or the call.
  const places = entity?.write === undefined ? undefined : entity.places?.write;
  // DuckDB tells names apart without their case.
  const known = new Set(columns.map((column) => column.toLowerCase()));
  const wanted = [
    ...keys.map((column) => ({ column, option: "keys" })),
    ...orderBy.map((text) => ({ column: orderTerm(text).column, option: "order_by" })),
  ];
  return wanted.filter(({ column }) => !known.has(column.toLowerCase())).map(({ column, option }) => {
    const meant = nearMiss(column, columns);
    const more = columns.length > MAX_COLUMNS ? ", …" : "";
    const message = `'${option}' of output '${node.entity}' names the column '${column}', which its rows do not have`;
    return new PzError("PZ0401", message, {
      ...(places?.[option] ?? node.position),
      hint: meant === undefined
        ? `their columns are ${columns.slice(0, MAX_COLUMNS).join(", ")}${more}`
        : `did you mean '${meant}'?`,
    });
  });
}
