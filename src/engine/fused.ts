import type { PipelineNode, SourceLoadNode } from "../compile/mod.ts";
import type { ColumnSpec, NativeScan } from "../connectors/mod.ts";
import { FILE_CATALOG, literal, qualified } from "../duckdb/mod.ts";
import { copyAndPublish } from "./executors/sink_write.ts";
import { inferScan } from "./executors/source_load.ts";
import { explain } from "./native_trouble.ts";
import { blame, ChainError, type Suspect } from "./fused_blame.ts";
import { chainHead, type FusedChain } from "./fused_chain.ts";
import { type Around, barred, counted, markedRows } from "./fused_marks.ts";
import { publishInferenceLints } from "./inference_lints.ts";
import type { NodeContext, NodeOutcome } from "./run_context.ts";
import { setUp } from "./setup.ts";
import { integer, rows, run } from "./statements.ts";

/**
 * Reads a source, runs its pipelines and writes the output in one statement; between its ends nothing is staged. Source
 * and pipelines are views, which only live in memory, on a connection that looks there for what the pipelines' SQL
 * names. What the statement delivers, and what it refuses, is what the nodes would one after the other, except that a
 * query which ends early reads no further. Returns what each node did, in the order of the data.
 *
 * @throws {ChainError} for whatever is the failure of one of the nodes
 */
export async function runFused(context: NodeContext, chain: FusedChain): Promise<readonly NodeOutcome[]> {
  const source = chain.source === undefined
    ? await openStaged(context, chain)
    : await openSource(context, chain.source.load, chain.source.scan);
  const stop = async (suspect: Suspect) => {
    context.signal.throwIfAborted();
    throw await blame(context, chain, source.scan, suspect);
  };
  const last = chain.pipelines.at(-1) ?? chainHead(chain);
  let columns: readonly ColumnSpec[] = [];
  for (const [index, pipeline] of chain.pipelines.entries()) {
    const around = createView(pipeline, counted(markOf(index + 1)));
    const prefix = `${around.before}(\n`;
    try {
      await run(context, `${prefix}${pipeline.sql}\n)${around.after}`);
      columns = await viewColumns(context, pipeline.relation);
      if (pipeline === last) break;
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
    return await stop({ node: chain.sink?.write ?? last, error });
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
  /** What stands in the source's view; absent: a table that is staged. */
  readonly scan?: NativeScan;
  /** Undefined: the mark in the view counts. */
  readonly rowCount?: number;
};

/** Makes a view of what a load has staged. */
async function openStaged(context: NodeContext, { staged = "" }: FusedChain): Promise<OpenSource> {
  await enterMemory(context);
  const { before, after } = createView({ relation: staged }, { before: "FROM ", after: "" });
  await run(context, before + stagedTable(staged) + after);
  return {};
}

async function enterMemory(context: NodeContext): Promise<void> {
  await context.run.staging.setup(["CREATE SCHEMA IF NOT EXISTS memory.staging"]);
  await run(context, "USE memory");
}

function stagedTable(relation: string): string {
  return qualified(FILE_CATALOG, "staging", relation);
}

/** Makes the source's view. */
async function openSource(context: NodeContext, load: SourceLoadNode, planned: NativeScan): Promise<OpenSource> {
  let scan = planned;
  try {
    await enterMemory(context);
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

/** Writes the last pipeline's rows and publishes them, or stages them. */
async function deliver(
  context: NodeContext,
  chain: FusedChain,
  source: OpenSource,
  columns: readonly ColumnSpec[],
): Promise<readonly NodeOutcome[]> {
  const { run: { runId, now }, attempt } = context;
  const { sink, pipelines } = chain;
  const relation = pipelines.at(-1)?.relation ?? "";
  const rowsOf = qualified("staging", relation);
  if (sink === undefined) {
    return (await execute(context, chain, source, `CREATE OR REPLACE TABLE ${stagedTable(relation)} AS FROM ${rowsOf}`))
      .before;
  }
  const { write } = sink;
  const copy = sink.copy({ run: runId, ordinal: attempt });
  let read: Executed | undefined;
  try {
    await copyAndPublish(context, copy, async () => {
      await setUp(context, write.connection, copy.setup);
      read = await execute(context, chain, source, copy.statement(rowsOf, columns));
    });
  } catch (error) {
    throw read === undefined ? error : new ChainError(write, error, read.before);
  }
  if (read === undefined) throw new Error("The copy was not run");
  return [...read.before, { rows: read.delivered, stages: { writeMs: Math.max(0, now() - read.end) } }];
}

/** What was found out about a statement that was run. */
type Executed = {
  /** What each node before the output did. */
  readonly before: readonly NodeOutcome[];
  /** Rows of the last pipeline. */
  readonly delivered: number;
  readonly end: number;
};

/** Runs the statement that all of a chain is in. */
async function execute(
  context: NodeContext,
  { source, pipelines }: FusedChain,
  { rowCount }: OpenSource,
  statement: string,
): Promise<Executed> {
  const { now } = context.run;
  const start = now();
  // The only way to a profile while the configuration is locked; the statement runs as it would by itself.
  const [line] = await rows(context, `EXPLAIN (ANALYZE, FORMAT JSON) ${statement}`);
  const end = now();
  const passed = markedRows(line?.[1] ?? "{}");
  const load: NodeOutcome = {
    rows: rowCount ?? passed.get(markOf(0)) ?? 0,
    stages: { ingestMs: Math.max(0, end - start) },
  };
  return {
    before: [
      ...source === undefined ? [] : [load],
      ...pipelines.map(({ materialization }, index) => ({
        rows: materialization === "view" ? 0 : passed.get(markOf(index + 1)) ?? 0,
      })),
    ],
    delivered: passed.get(markOf(pipelines.length)) ?? 0,
    end,
  };
}
