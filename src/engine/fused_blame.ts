import type { DagNode } from "../compile/mod.ts";
import type { NativeCopy, NativeScan } from "../connectors/mod.ts";
import { DuckDbError } from "../duckdb/mod.ts";
import { explain } from "./executors/source_load.ts";
import type { FusedChain } from "./fused_chain.ts";
import { marked } from "./fused_marks.ts";
import type { NodeContext } from "./run_context.ts";
import { integer } from "./statements.ts";

/** Thrown when a fused chain stops because of one of its nodes. */
export class ChainError extends Error {
  override readonly name = "ChainError";
  readonly node: DagNode;
  /** What stands before the pipeline's SQL in the statement that the cause's position belongs to. */
  readonly prefix: string | undefined;

  constructor(node: DagNode, cause: unknown, prefix?: string) {
    super(`The chain stopped at '${node.name}'`, { cause });
    this.node = node;
    this.prefix = prefix;
  }
}

/** Does a part of a chain that belongs to one of its nodes. */
export async function onBehalfOf<T>(node: DagNode, work: () => Promise<T>, prefix?: string): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof ChainError ? error : new ChainError(node, error, prefix);
  }
}

const BIND_KINDS: ReadonlySet<string> = new Set(["Binder", "Catalog", "Parser"]);

/**
 * Finds the node because of which the statement of a chain failed, whose relations it could all bind: what tells by
 * itself, else the first part that fails alone, else the write.
 */
export async function blame(
  context: NodeContext,
  chain: FusedChain,
  parts: { readonly scan: NativeScan; readonly copy: NativeCopy },
  error: DuckDbError,
): Promise<ChainError> {
  const { load, pipelines, write } = chain;
  const isAboutTarget = parts.copy.moves.some(({ from }) => error.message.includes(from));
  if (isAboutTarget || BIND_KINDS.has(error.kind)) return new ChainError(write, error);
  // What ran out of memory would do so again, and streaming rows in and out takes little of it.
  if (/^out of ?memory$/i.test(error.kind)) return new ChainError(pipelines.at(-1) ?? write, error);
  try {
    await onBehalfOf(load, async () => {
      try {
        await drain(context, `(SELECT * FROM ${parts.scan.fragment})`);
      } catch (error) {
        throw await explain(context, parts.scan, error);
      }
    });
    for (const pipeline of pipelines) {
      await onBehalfOf(pipeline, () => drain(context, `(\n${pipeline.sql}\n)`), `${DRAIN.before}(\n`);
    }
  } catch (culprit) {
    context.signal.throwIfAborted();
    if (culprit instanceof ChainError) return culprit;
    throw culprit;
  }
  return new ChainError(write, error);
}

const MARK = marked("pz drain");
const DRAIN = { before: `SELECT count(*) FROM (${MARK.before}`, after: `${MARK.after})` };

/** Makes every value of a relation and keeps none. */
async function drain(context: NodeContext, relation: string): Promise<void> {
  await integer(context, `${DRAIN.before}${relation}${DRAIN.after}`);
}
