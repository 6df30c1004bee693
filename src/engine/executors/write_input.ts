import type { SinkWriteNode } from "../../compile/mod.ts";
import { qualified } from "../../duckdb/mod.ts";
import { survivors } from "../merge_order.ts";
import { isOrdered } from "../row_order.ts";
import type { NodeContext } from "../run_context.ts";
import { countRows, dropTable, run } from "../statements.ts";

/** What a write drains: a table of schema `staging` that nothing changes meanwhile, and how many rows it has. */
export type WriteInput = AsyncDisposable & {
  readonly table: string;
  readonly orderBy?: string;
  readonly rows: number;
};

/**
 * Gets a node's relation ready to be drained. A drain can't tell a failure of SQL from the end of the rows, so that it
 * reads tables alone: a view, and what a merge keeps of a table, is put into one first, which disposing drops.
 */
export async function openWriteInput(context: NodeContext, node: SinkWriteNode): Promise<WriteInput> {
  const staged = qualified("staging", node.relation);
  const wanted = survivors(node, staged);
  const orderBy = await isOrdered(context, node.relation) ? "rowid" : undefined;
  const isView = context.run.pipelines.get(node.relation)?.materialization === "view";
  if (!isView && wanted === staged) {
    const rows = await countRows(context, node.relation);
    return { table: node.relation, rows, ...ordering(orderBy), [Symbol.asyncDispose]: () => Promise.resolve() };
  }
  const table = `pz_out_${node.id}`;
  const drop = () => dropTable(context, table);
  try {
    await run(context, `CREATE OR REPLACE TABLE ${qualified("staging", table)} AS SELECT * FROM ${wanted}`);
    // Which row a merge keeps does not depend on where it stands.
    const order = ordering(wanted === staged ? orderBy : undefined);
    return { table, rows: await countRows(context, table), ...order, [Symbol.asyncDispose]: drop };
  } catch (error) {
    await drop();
    throw error;
  }
}

function ordering(orderBy: string | undefined): { readonly orderBy?: string } {
  return orderBy === undefined ? {} : { orderBy };
}
