import type { DuckDbConnection } from "../duckdb/mod.ts";
import type { RecordBatch, Schema } from "../util/arrow.ts";
import type { IngestOptions, IngestProgress } from "./ingest.ts";

/** `ingestArrow` of ingest.ts, which is loaded at the first call: runs that move no Arrow data do without the library. */
export async function ingestArrow(
  connection: DuckDbConnection,
  relation: string,
  schema: Schema,
  batches: AsyncIterable<RecordBatch>,
  options: IngestOptions,
): Promise<IngestProgress> {
  const { ingestArrow: ingest } = await import("./ingest.ts");
  return await ingest(connection, relation, schema, batches, options);
}
