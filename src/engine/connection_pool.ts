import type { CompiledDag } from "../compile/mod.ts";
import type { DuckDbConnection } from "../duckdb/mod.ts";
import type { StagingArea } from "./run_context.ts";

/**
 * Lends connections to staging. One that is as good as new after its work is lent again, since to open one costs more
 * than many a small statement; idle ones are closed with the staging area.
 */
export class ConnectionPool {
  readonly #staging: Pick<StagingArea, "connect">;
  readonly #idle: DuckDbConnection[] = [];

  constructor(staging: Pick<StagingArea, "connect">) {
    this.#staging = staging;
  }

  /**
   * Runs work with a connection that nothing else uses meanwhile.
   *
   * @param reuse whether the work leaves nothing behind in its connection if it ends well; one whose work threw, or was
   * told to stop, is closed in any case
   */
  async lend<T>(
    { reuse, signal }: { readonly reuse: boolean; readonly signal: AbortSignal },
    work: (connection: DuckDbConnection) => Promise<T>,
  ): Promise<T> {
    const connection = (reuse ? this.#idle.pop() : undefined) ?? await this.#staging.connect();
    let clean = false;
    try {
      const result = await work(connection);
      clean = reuse && !signal.aborted;
      return result;
    } finally {
      if (clean) this.#idle.push(connection);
      else await connection.close();
    }
  }
}

/** In the names of all functions by which a query changes its connection: the seed, profiling, the optimizer. */
const CHANGES_CONNECTION = /setseed|enable_|disable_|verify_|\bquery\b/i;

/**
 * Whether the SQL of a project's pipelines and checks leaves its connection as it was. A look at the texts is enough:
 * in doubt connections are not reused. All texts count, since the SQL of a view runs wherever the view is read.
 */
export function leavesConnectionsAlone({ nodes }: Pick<CompiledDag, "nodes">): boolean {
  return !nodes.some((node) => {
    const sql = node.kind === "Pipeline" ? node.sql : node.kind === "Check" ? node.check.sql ?? "" : "";
    return CHANGES_CONNECTION.test(sql);
  });
}
