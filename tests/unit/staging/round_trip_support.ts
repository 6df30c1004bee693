import assert from "node:assert/strict";
import { ident } from "../../../src/duckdb/mod.ts";
import type { DuckDbConnection } from "../../../src/duckdb/mod.ts";
import { type Drain, drainArrow, type DrainOptions, ingestArrow } from "../../../src/staging/mod.ts";

import { type RecordBatch, RecordBatchReader, RecordBatchStreamWriter } from "../../../src/util/arrow.ts";

/** Drains `staging.a` into `staging.b` and asserts that both have the same columns, types and rows. */
export async function roundTrip(
  connection: DuckDbConnection,
  writer: DuckDbConnection,
  options: Partial<DrainOptions> = {},
): Promise<Drain> {
  const drain = await drainArrow(connection, "a", { batchBytes: 1 << 20, ...options });
  await ingestArrow(writer, "b", drain.schema, drain.batches, {});
  await assertSame(connection);
  return drain;
}

/** The same with Arrow's stream format between, as it runs between processes. */
export async function roundTripInBytes(
  connection: DuckDbConnection,
  writer: DuckDbConnection,
  options: Partial<DrainOptions> = {},
): Promise<void> {
  const { schema, batches } = await drainArrow(connection, "a", { batchBytes: 1 << 20, ...options });
  const empty = decoded(new RecordBatchStreamWriter().reset(undefined, schema));
  await ingestArrow(writer, "b", empty.schema, inBytes(batches), {});
  await assertSame(connection);
}

async function* inBytes(batches: AsyncIterable<RecordBatch>): AsyncGenerator<RecordBatch> {
  for await (const batch of batches) {
    const writer = new RecordBatchStreamWriter();
    writer.write(batch);
    yield* decoded(writer);
  }
}

function decoded(writer: RecordBatchStreamWriter): RecordBatchReader {
  writer.finish();
  return RecordBatchReader.from(writer.toUint8Array(true)).open();
}

/** Asserts that `staging.a` and `staging.b` have the same columns, types and rows, in any order. */
export async function assertSame(connection: DuckDbConnection): Promise<void> {
  const [a, b] = [await connection.prepare("FROM staging.a"), await connection.prepare("FROM staging.b")];
  assert.deepEqual(b.columns, a.columns);
  // The texts tell what equality does not: the sign of a zero, and what is NULL inside.
  const names = a.columns.flatMap(({ name }) => [ident(name), `${ident(name)}::VARCHAR`]).join(", ");
  const select = (table: string) => `SELECT ${names} FROM staging.${table}`;
  for (const [left, right] of [["a", "b"], ["b", "a"]] as const) {
    const differing = `SELECT COLUMNS(*)::VARCHAR FROM (${select(left)} EXCEPT ALL ${select(right)}) LIMIT 3`;
    assert.deepEqual(await connection.rows(differing), []);
  }
}
