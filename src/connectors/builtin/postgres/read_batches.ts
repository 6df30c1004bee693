import type { RecordBatch, Schema } from "../../../util/arrow.ts";
import type { Kind } from "./kind.ts";
import { RowReader } from "./row_reader.ts";
import type { PgSession } from "./session.ts";

/** Bytes on the wire that make a batch, which then travels in one frame and is never put together from parts. */
const MAX_BATCH_BYTES = 512 * 1024;
/** Batches that may wait for the reader before the server is told to wait. */
const MAX_WAITING = 16;

type Shape = { readonly schema: Schema; readonly kinds: readonly Kind[]; readonly batchBytes: number };

/** The rows of a select; who stops early must close the session. */
export async function* readBatches(
  session: PgSession,
  select: string,
  { schema, kinds, batchBytes }: Shape,
): AsyncGenerator<RecordBatch> {
  const reader = new RowReader(schema, kinds, Math.min(batchBytes, MAX_BATCH_BYTES));
  const waiting: RecordBatch[] = [];
  let wake = Promise.withResolvers<void>();
  const copy = session.copyOut(`COPY (${select}) TO STDOUT (FORMAT binary)`, (bytes, from) => {
    const end = reader.read(bytes, from);
    if (reader.isFull) {
      waiting.push(reader.take());
      if (waiting.length >= MAX_WAITING) copy.pause();
      wake.resolve();
    }
    return end;
  });
  let isOver = false;
  const ending = copy.end.then(() => {}, (error: unknown) => ({ error })).finally(() => {
    isOver = true;
    wake.resolve();
  });
  try {
    while (true) {
      const batch = waiting.shift();
      if (batch !== undefined) {
        if (waiting.length === MAX_WAITING - 1) copy.resume();
        yield batch;
        continue;
      }
      if (isOver) break;
      await wake.promise;
      wake = Promise.withResolvers<void>();
    }
    const failure = await ending;
    if (failure !== undefined) throw session.reasonOf(failure.error);
    if (!reader.isEnded) throw new Error("Connection terminated before the last row");
    if (reader.rows > 0) yield reader.take();
  } finally {
    if (!isOver) await session.abandon();
    await ending;
  }
}
