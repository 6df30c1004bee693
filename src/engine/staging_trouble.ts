import { DuckDbError } from "../duckdb/mod.ts";
import { PzError } from "../errors/mod.ts";
import { DENIED_HINT, DISK_FULL_HINT, isDeniedFile, isDiskFull } from "./failure.ts";

/** What it means that a run's staging database did not open: PZ0532, PZ0531, PZ0533, or the error as it is. */
export function stagingTrouble(error: unknown): unknown {
  if (!(error instanceof DuckDbError)) return error;
  const message = `the staging database of the run can't be opened: ${error.message}`;
  if (isDiskFull(error)) return new PzError("PZ0532", message, { hint: DISK_FULL_HINT, cause: error });
  if (isDeniedFile(error)) return new PzError("PZ0531", message, { hint: DENIED_HINT, cause: error });
  if (error.kind === "IO" && error.message.startsWith("Could not set lock on file")) {
    return new PzError("PZ0533", message, { hint: "close the program that uses it", cause: error });
  }
  return error;
}
