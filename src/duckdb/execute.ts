import type { DuckDBConnection, DuckDBPendingResult, DuckDBPreparedStatement, DuckDBResult } from "@duckdb/node-api";
import { setImmediate, setTimeout } from "node:timers/promises";
import type { DuckDbLibrary } from "./load.ts";

/** How long a statement may hold the event loop where it runs on the loop's own thread. */
const SLICE_MS = 5;

/**
 * Runs statements to their end without holding the event loop. Runtimes before 2.9 run a native library's background
 * work on the thread of the event loop, where no signal and no timer would be heard until it ends; there a statement is
 * run task by task, with a turn of the loop between slices.
 */
export async function execute(
  connection: DuckDBConnection,
  sql: string,
  library: DuckDbLibrary,
): Promise<DuckDBResult> {
  if (!runsOnLoopThread(Deno.version.deno)) return await connection.run(sql);
  return await finish(await connection.start(sql), library);
}

/** The same for one prepared statement. */
export async function executePrepared(
  statement: DuckDBPreparedStatement,
  library: DuckDbLibrary,
): Promise<DuckDBResult> {
  if (!runsOnLoopThread(Deno.version.deno)) return await statement.run();
  return await finish(await statement.start(), library);
}

/** Opens the rows of one statement as a stream, up to its first ones. */
export async function executeStreaming(
  connection: DuckDBConnection,
  sql: string,
  library: DuckDbLibrary,
): Promise<DuckDBResult> {
  if (!runsOnLoopThread(Deno.version.deno)) return await connection.stream(sql);
  return await finish(await connection.startStream(sql), library);
}

/** Whether a runtime of this version runs background work of native libraries on the event loop's thread. */
export function runsOnLoopThread(version: string): boolean {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return major < 2 || (major === 2 && minor < 9);
}

/** Runs what is pending task by task. */
async function finish(pending: DuckDBPendingResult, { api }: DuckDbLibrary): Promise<DuckDBResult> {
  const { RESULT_READY, NO_TASKS_AVAILABLE } = api.DuckDBPendingResultState;
  let sliceStart = performance.now();
  for (;;) {
    const state = pending.runTask();
    if (state === RESULT_READY) return await pending.getResult();
    // Other threads have taken all tasks: they need no help for a moment.
    if (state === NO_TASKS_AVAILABLE) await setTimeout(1);
    else if (performance.now() - sliceStart >= SLICE_MS) await setImmediate();
    else continue;
    sliceStart = performance.now();
  }
}
