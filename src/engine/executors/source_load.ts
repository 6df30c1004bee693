import type { SourceLoadNode } from "../../compile/mod.ts";
import type { NativeScan } from "../../connectors/mod.ts";
import { qualified } from "../../duckdb/mod.ts";
import { PzError } from "../../errors/mod.ts";
import { publishInferenceLints } from "../inference_lints.ts";
import { explain } from "../native_trouble.ts";
import type { NodeContext, NodeOutcome } from "../run_context.ts";
import { setUp } from "../setup.ts";
import { countRows, dropTable, rows, run } from "../statements.ts";
import { loadPartitions } from "./partition_load.ts";
import { loadStaged } from "./staged_load.ts";
import { loadUniversal } from "./universal_load.ts";
import { faultPoint } from "../../util/mod.ts";

/**
 * Lands one dataset in its staging table; a load that fails leaves no table, unless it keeps account of what another
 * attempt need not read again.
 */
export async function runSourceLoad(context: NodeContext, node: SourceLoadNode): Promise<NodeOutcome> {
  const planned = context.run.planned.get(node.id);
  if (planned?.strategy === "arrow_stream" && planned.stablePartitions === true) {
    return await loadPartitions(context, node, planned);
  }
  try {
    if (planned?.strategy === "native_scan" && planned.scan !== undefined) {
      return await loadNative(context, node, planned.scan);
    }
    if (planned?.strategy === "staged_scan" && planned.stagedInput !== undefined) {
      return await loadStaged(context, node, planned.stagedInput, (scan) => loadNative(context, node, scan));
    }
    if (planned?.strategy === "arrow_stream") return await loadUniversal(context, node, planned);
  } catch (error) {
    await dropTable(context, node.relation);
    throw error;
  }
  throw new PzError("PZ0700", `Source '${node.name}' can't be read by this build: no way to read it was planned`);
}

async function loadNative(context: NodeContext, node: SourceLoadNode, planned: NativeScan): Promise<NodeOutcome> {
  await setUp(context, node.connection, planned.setup);
  const start = context.run.now();
  const scan = await inferScan(context, planned);
  const table = qualified("staging", node.relation);
  try {
    await run(context, `CREATE OR REPLACE TABLE ${table} AS SELECT * FROM ${scan.fragment}`);
  } catch (error) {
    throw await explain(context, scan, error);
  }
  faultPoint("rows_staged");
  const loaded = {
    rows: await countRows(context, node.relation),
    stages: { ingestMs: Math.max(0, context.run.now() - start) },
  };
  if (planned.schemaInferred) await publishInferenceLints(context, node, scan);
  return loaded;
}

/** The scan with the types that its connector asks DuckDB for first, where it does. */
export async function inferScan(context: NodeContext, planned: NativeScan): Promise<NativeScan> {
  try {
    return await planned.infer?.((sql) => rows(context, sql)) ?? planned;
  } catch (error) {
    throw await explain(context, planned, error);
  }
}
