import type { PipelineNode } from "../compile/mod.ts";
import type { ColumnSpec, NativeScan } from "../connectors/mod.ts";
import { literal, qualified } from "../duckdb/mod.ts";
import { copyAndPublish } from "./executors/sink_write.ts";
import { inferScan } from "./executors/source_load.ts";
import { explain } from "./native_trouble.ts";
import { blame, ChainError, type Suspect } from "./fused_blame.ts";
import type { FusedChain } from "./fused_chain.ts";
import { type Around, barred, counted, markedRows } from "./fused_marks.ts";
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
  const source = await openSource(context, chain);
  const stop = async (suspect: Suspect) => {
    context.signal.throwIfAborted();
    throw await blame(context, chain, source.scan, suspect);
  };
  let columns: readonly ColumnSpec[] = [];
  for (const [index, pipeline] of chain.pipelines.entries()) {
    const around = createView(pipeline, counted(markOf(index + 1)));
    const prefix = `${around.before}(\n`;
    try {
      await run(context, `${prefix}${pipeline.sql}\n)${around.after}`);
      columns = await viewColumns(context, pipeline.relation);
      if (pipeline === chain.pipelines.at(-1)) break;
      // What reads it may leave out some of it.
      const barrier = createView(pipeline, barred(markOf(index + 1), columns.map(({ name }) => name)));
      await run(context, `${barrier.before}(\n${pipeline.sql}\n)${barrier.after}`);
    } catch (error) {
      await stop({ node: pipeline, error, at: { pipeline, prefix } });
    }
  }
  try {
    return await deliver(context, chain, source, columns);
  } catch (error) {
    if (error instanceof ChainError) throw error;
    return await stop({ node: chain.write, error });
  }
}

function markOf(index: number): string {
  return `pz ${index}`;
}

/** The statement that makes a view of a relation under the name that SQL knows its node by. */
function createView({ relation }: Pick<PipelineNode, "relation">, { before, after }: Around): Around {
  return { before: `CREATE OR REPLACE VIEW ${qualified("memory", "staging", relation)} AS ${before}`, after };
}

/** The columns of a chain's view, without planning it once more. */
async function viewColumns(context: NodeContext, relation: string): Promise<readonly ColumnSpec[]> {
  const found = await rows(
    context,
    "SELECT column_name, data_type FROM duckdb_columns() WHERE database_name = 'memory' AND schema_name = 'staging' " +
      `AND table_name = ${literal(relation)} ORDER BY column_index`,
  );
  return found.map(([name, type]) => ({ name: name ?? "", type: type ?? "" }));
}

type OpenSource = {
  /** What stands in the source's view. */
  readonly scan: NativeScan;
  /** Undefined: the mark in the view counts. */
  readonly rowCount?: number;
};

/** Makes the source's view. */
async function openSource(context: NodeContext, { load, scan: planned }: FusedChain): Promise<OpenSource> {
  let scan = planned;
  try {
    await context.run.staging.setup(["CREATE SCHEMA IF NOT EXISTS memory.staging"]);
    await run(context, "USE memory");
    await setUp(context, load.connection, planned.setup);
    scan = await inferScan(context, planned);
    let columns: readonly ColumnSpec[] | undefined = load.columns;
    if (columns === undefined || planned.schemaInferred || scan.rowCount !== undefined) {
      const plain = createView(load, { before: "SELECT * FROM ", after: "" });
      await run(context, plain.before + scan.fragment + plain.after);
      if (planned.schemaInferred) await publishInferenceLints(context, load, scan);
      if (scan.rowCount !== undefined) return { scan, rowCount: Number(await integer(context, scan.rowCount)) };
      columns = await viewColumns(context, load.relation);
    }
    const barrier = createView(load, barred(markOf(0), columns.map(({ name }) => name)));
    await run(context, `${barrier.before}(SELECT * FROM ${scan.fragment})${barrier.after}`);
    return { scan };
  } catch (error) {
    throw new ChainError(load, await explain(context, scan, error), []);
  }
}

/** Writes the last pipeline's rows and publishes them. */
async function deliver(
  context: NodeContext,
  { pipelines, write, copy: copyOf }: FusedChain,
  { rowCount }: OpenSource,
  columns: readonly ColumnSpec[],
): Promise<readonly NodeOutcome[]> {
  const { run: { runId, now }, attempt } = context;
  const copy = copyOf({ run: runId, ordinal: attempt });
  const start = now();
  let read: { readonly before: readonly NodeOutcome[]; readonly delivered: number; readonly end: number } | undefined;
  try {
    await copyAndPublish(context, copy, async () => {
      await setUp(context, write.connection, copy.setup);
      const statement = copy.statement(qualified("staging", write.relation), columns);
      // The only way to a profile while the configuration is locked; the statement runs as it would by itself.
      const [line] = await rows(context, `EXPLAIN (ANALYZE, FORMAT JSON) ${statement}`);
      const end = now();
      const passed = markedRows(line?.[1] ?? "{}");
      const before = [
        { rows: rowCount ?? passed.get(markOf(0)) ?? 0, stages: { ingestMs: Math.max(0, end - start) } },
        ...pipelines.map(({ materialization }, index) => ({
          rows: materialization === "view" ? 0 : passed.get(markOf(index + 1)) ?? 0,
        })),
      ];
      read = { before, delivered: passed.get(markOf(pipelines.length)) ?? 0, end };
    });
  } catch (error) {
    throw read === undefined ? error : new ChainError(write, error, read.before);
  }
  if (read === undefined) throw new Error("The copy was not run");
  return [...read.before, { rows: read.delivered, stages: { writeMs: Math.max(0, now() - read.end) } }];
}
