import type { SourceLoadNode } from "../../compile/mod.ts";
import type { NativeScan } from "../../connectors/mod.ts";
import { qualified } from "../../duckdb/mod.ts";
import { PzError } from "../../errors/mod.ts";
import type { NodeContext, NodeOutcome } from "../run_context.ts";
import { setUp } from "../setup.ts";
import { countRows, dropTable, run } from "../statements.ts";
import { loadUniversal } from "./universal_load.ts";

/** Lands one dataset in its staging table; a load that fails leaves no table. */
export async function runSourceLoad(context: NodeContext, node: SourceLoadNode): Promise<NodeOutcome> {
  const planned = context.run.planned.get(node.id);
  try {
    if (planned?.strategy === "native_scan" && planned.scan !== undefined) {
      return await loadNative(context, node, planned.scan);
    }
    if (planned?.strategy === "arrow_stream") return await loadUniversal(context, node, planned);
  } catch (error) {
    await dropTable(context, node.relation);
    throw error;
  }
  throw new PzError("PZ0700", `Source '${node.name}' can't be read by this build: no way to read it was planned`);
}

async function loadNative(context: NodeContext, node: SourceLoadNode, scan: NativeScan): Promise<NodeOutcome> {
  await setUp(context, node.connection, scan.setup);
  const start = context.run.now();
  await run(
    context,
    `CREATE OR REPLACE TABLE ${qualified("staging", node.relation)} AS SELECT * FROM ${scan.fragment}`,
  );
  const rows = await countRows(context, node.relation);
  return { rows, stages: { ingestMs: Math.max(0, context.run.now() - start) } };
}
