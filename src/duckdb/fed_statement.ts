import type { DuckDBConnection, DuckDBPendingResult, DuckDBResult } from "@duckdb/node-api";
import type { PendingResult } from "@duckdb/node-bindings";
import { setTimeout } from "node:timers/promises";
import type { DuckDbLibrary } from "./load.ts";

/** What is known of a feed while a statement reads it. */
export type FeedWatch = {
  /** How often DuckDB has asked for rows so far. */
  calls: number;
  /** Whether DuckDB's own threads were busy elsewhere before, so that it is no use to wait for them. */
  isHurried: boolean;
};

const TICK_MS = 5;
/** How long DuckDB's own threads may leave the statement alone before it gets one of its own. */
const START_TICKS = 4;
const IDLE_TICKS = 300;

/**
 * Runs a statement that reads a feed to its end. Whoever waits for a statement of DuckDB's looks for work all the time,
 * which takes a whole CPU while others do the one task that there is. So DuckDB's own threads are left to it, as long as
 * they are seen to be at it.
 *
 * Only for a transaction that has changed the catalog itself: in any other a change by somebody else makes DuckDB look
 * at the statement anew when it starts, for which it would ask the very thread that it blocks.
 */
export async function runFed(
  connection: DuckDBConnection,
  sql: string,
  library: DuckDbLibrary,
  watch: FeedWatch,
  signal: AbortSignal | undefined,
): Promise<DuckDBResult> {
  const statement = await connection.prepare(sql);
  try {
    const pending = statement.start();
    let seen = 0;
    for (let idle = 0; !watch.isHurried && signal?.aborted !== true && isRunning(pending, library);) {
      await setTimeout(TICK_MS);
      const { calls } = watch;
      idle = calls === seen ? idle + 1 : 0;
      seen = calls;
      watch.isHurried = idle >= (calls === 0 ? START_TICKS : IDLE_TICKS);
    }
    return await pending.getResult();
  } finally {
    statement.destroySync();
  }
}

/**
 * Whether a statement has not ended yet. Only the layer below tells, by the handle that the API wraps.
 *
 * @throws what the statement failed with, in the words that whoever waits for it would hear
 */
function isRunning(pending: DuckDBPendingResult, { bindings }: DuckDbLibrary): boolean {
  const { RESULT_NOT_READY, NO_TASKS_AVAILABLE } = bindings.PendingState;
  const handle: PendingResult = Reflect.get(pending, "pending_result");
  const state = bindings.pending_execute_check_state(handle);
  if (state === RESULT_NOT_READY || state === NO_TASKS_AVAILABLE) return true;
  const failure = bindings.pending_error(handle);
  if (failure !== "") throw new Error(failure);
  return false;
}
