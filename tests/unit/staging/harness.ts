import { join } from "node:path";
import { ingestArrow, openStaging, type Staging } from "../../../src/staging/mod.ts";
import type { DuckDbConnection } from "../../../src/duckdb/mod.ts";
import * as arrow from "../../../src/util/arrow.ts";

type Rows = readonly (readonly (string | null)[])[];

/** A staging database in a folder of its own, which is removed at the end. */
export async function withStaging(
  work: (staging: Staging, connection: DuckDbConnection, folder: string) => Promise<void>,
): Promise<void> {
  const folder = await Deno.makeTempDir();
  try {
    await using staging = await openStaging({
      file: join(folder, "staging.duckdb"),
      memoryLimitBytes: 500_000_000,
      threads: 2,
      tempDirectory: join(folder, "spill"),
      allowedPaths: { files: [], folders: [] },
      // So that tests may compare rows in order.
      preserveInsertionOrder: true,
    });
    await work(staging, await staging.connect(), folder);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
}

/** A batch of whole arrays. */
export function batchOf(fields: readonly arrow.Field[], columns: readonly arrow.Data[]): arrow.RecordBatch {
  const length = columns[0]?.length ?? 0;
  const type = new arrow.Struct([...fields]);
  const data = arrow.makeData({ type, length, nullCount: 0, children: [...columns] });
  return new arrow.RecordBatch(new arrow.Schema([...fields]), data);
}

/** The items as a stream. */
export async function* each<T>(...items: readonly T[]): AsyncGenerator<T> {
  for (const item of items) yield await Promise.resolve(item);
}

/** Stages one column and returns its texts and its type in the table. */
export async function stage(
  field: arrow.Field,
  ...parts: readonly arrow.Data[]
): Promise<{ texts: unknown[]; type: string }> {
  let texts: unknown[] = [];
  let type = "";
  await withStaging(async (_, connection) => {
    const batches = parts.map((part) => batchOf([field], [part]));
    await ingestArrow(connection, "t", new arrow.Schema([field]), each(...batches), {});
    const rows: Rows = await connection.rows("SELECT x FROM staging.t ORDER BY rowid");
    texts = rows.map(([text]) => text);
    type = (await connection.prepare("SELECT x FROM staging.t")).columns[0]?.type ?? "";
  });
  return { texts, type };
}

/** A nullable field named x. */
export const x = (type: arrow.DataType, metadata?: Map<string, string>) => new arrow.Field("x", type, true, metadata);
