import type { PipelineNode } from "../compile/mod.ts";
import type { NativeScan } from "../connectors/mod.ts";
import { DuckDbError, qualified } from "../duckdb/mod.ts";
import { copyAndPublish } from "./executors/sink_write.ts";
import { explain } from "./executors/source_load.ts";
import { blame, ChainError, onBehalfOf } from "./fused_blame.ts";
import type { FusedChain } from "./fused_chain.ts";
import { type Around, marked, markedRows } from "./fused_marks.ts";
import { publishInferenceLints } from "./inference_lints.ts";
import type { NodeContext, NodeOutcome } from "./run_context.ts";
import { setUp } from "./setup.ts";
import { integer, rows, run } from "./statements.ts";

/**
 * Reads a source, runs its pipelines and writes the output in one statement; nothing is staged. Source and pipelines
 * are views, which only live in memory, on a connection that looks there for what the pipelines' SQL names. What the
 * statement delivers, and what it refuses, is what the nodes would one after the other, except that a query which ends
 * early reads no further. Returns what each node did, in the order of the data.
 *
 * @throws {ChainError} for whatever is the failure of one of the nodes
 */
export async function runFused(context: NodeContext, chain: FusedChain): Promise<readonly NodeOutcome[]> {
  const { load, pipelines, write } = chain;
  const { scan, rowCount } = await onBehalfOf(load, () => openSource(context, chain));
  for (const [index, pipeline] of pipelines.entries()) {
    const { before, after } = createView(pipeline, marked(markOf(index + 1)));
    const around = { before: `${before}(\n`, after: `\n)${after}` };
    await onBehalfOf(pipeline, () => run(context, around.before + pipeline.sql + around.after), around.before);
  }
  const { profile, writeMs } = await onBehalfOf(write, () => deliver(context, chain, scan));
  const passed = markedRows(profile);
  const delivered = passed.get(markOf(pipelines.length)) ?? 0;
  return [
    { rows: rowCount ?? passed.get(markOf(0)) ?? 0 },
    ...pipelines.map(({ materialization }, index) => ({
      rows: materialization === "view" ? 0 : passed.get(markOf(index + 1)) ?? 0,
    })),
    { rows: delivered, stages: { writeMs } },
  ];
}

function markOf(index: number): string {
  return `pz ${index}`;
}

/** The statement that makes a view of a relation under the name that SQL knows its node by. */
function createView({ relation }: Pick<PipelineNode, "relation">, { before, after }: Around): Around {
  return { before: `CREATE OR REPLACE VIEW ${qualified("memory", "staging", relation)} AS ${before}`, after };
}

type OpenSource = {
  /** What stands in the source's view. */
  readonly scan: NativeScan;
  /** Undefined: the mark in the view counts. */
  readonly rowCount?: number;
};

/** Makes the source's view. */
async function openSource(context: NodeContext, { load, scan: planned }: FusedChain): Promise<OpenSource> {
  await context.run.staging.setup(["CREATE SCHEMA IF NOT EXISTS memory.staging"]);
  await run(context, "USE memory");
  await setUp(context, load.connection, planned.setup);
  const scan = await planned.infer?.((sql) => rows(context, sql)) ?? planned;
  try {
    if (planned.schemaInferred || scan.rowCount !== undefined) {
      const { before, after } = createView(load, { before: "SELECT * FROM ", after: "" });
      await run(context, before + scan.fragment + after);
      if (planned.schemaInferred) await publishInferenceLints(context, load, scan);
      if (scan.rowCount !== undefined) return { scan, rowCount: Number(await integer(context, scan.rowCount)) };
    }
    const { before, after } = createView(load, marked(markOf(0)));
    await run(context, `${before}(SELECT * FROM ${scan.fragment})${after}`);
    return { scan };
  } catch (error) {
    throw await explain(context, scan, error);
  }
}

/** Writes the last pipeline's rows and publishes them; returns the statement's profile. */
async function deliver(
  context: NodeContext,
  chain: FusedChain,
  scan: NativeScan,
): Promise<{ readonly profile: string; readonly writeMs: number }> {
  const { run: { runId, now }, attempt } = context;
  const { write } = chain;
  const copy = chain.copy({ run: runId, ordinal: attempt });
  await setUp(context, write.connection, copy.setup);
  const start = now();
  let profile = "";
  let stopped: unknown;
  try {
    await copyAndPublish(context, copy, qualified("staging", write.relation), async (statement) => {
      try {
        // The only way to a profile while the configuration is locked; the statement runs as it would by itself.
        const [line] = await rows(context, `EXPLAIN (ANALYZE, FORMAT JSON) ${statement}`);
        profile = line?.[1] ?? "{}";
      } catch (error) {
        stopped = error;
        throw error;
      }
    });
  } catch (error) {
    if (error !== stopped || !(error instanceof DuckDbError)) throw new ChainError(write, error);
    throw await blame(context, chain, { scan, copy }, error);
  }
  return { profile, writeMs: Math.max(0, now() - start) };
}
