import { isAbsolute, relative } from "node:path";
import type { NativeDiagnosis, NativeScan } from "../connectors/mod.ts";
import { DuckDbError } from "../duckdb/mod.ts";
import { PzError } from "../errors/mod.ts";
import { StepError } from "./failure.ts";
import type { NodeContext } from "./run_context.ts";
import { rows } from "./statements.ts";

/** The value in the user's data that stopped the scan, where the connector can find it; else the error as it is. */
export async function explain(
  context: NodeContext,
  scan: Pick<NativeScan, "diagnose">,
  error: unknown,
): Promise<unknown> {
  if (scan.diagnose === undefined || !(error instanceof DuckDbError) || error.interrupted) return error;
  let found: NativeDiagnosis | undefined;
  try {
    found = await scan.diagnose((sql) => rows(context, sql), error.message);
  } catch {
    context.signal.throwIfAborted();
  }
  if (found === undefined) return error;
  const { message, line, hint } = found;
  const file = shownPath(context.run.project.root, found.file);
  return new StepError("read", new PzError("PZ0501", message, { file, line, hint, cause: error }));
}

/** A file of the project by its path from the project's folder, any other, such as an object's address, as it is. */
function shownPath(root: string, file: string): string {
  if (!isAbsolute(file)) return file;
  const path = relative(root, file);
  return path.startsWith("..") || isAbsolute(path) ? file : path;
}
