import { orderTerm, type SinkWriteNode } from "../compile/mod.ts";
import { ident } from "../duckdb/mod.ts";

/**
 * The rows of a relation (as SQL) that a merge with `order_by` keeps, as SQL: of each key the first in that order.
 * Elsewhere the relation as it is. An entry of `order_by` is a column, perhaps with `asc` or `desc` behind it; NULL
 * comes last.
 */
export function survivors({ write: { strategy, keys, orderBy } }: SinkWriteNode, relation: string): string {
  if (strategy !== "merge" || keys.length === 0 || orderBy === undefined || orderBy.length === 0) return relation;
  const partition = keys.map(ident).join(", ");
  const order = orderBy.map(orderTerm).map(({ column, direction }) => `${ident(column)} ${direction} NULLS LAST`).join(
    ", ",
  );
  return `(SELECT * FROM ${relation} QUALIFY row_number() OVER (PARTITION BY ${partition} ORDER BY ${order}) = 1)`;
}
