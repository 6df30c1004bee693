import type { RecordBatch } from "../../../util/arrow.ts";
import type { RowDecoder } from "./row_decoder.ts";
import type { MysqlSession } from "./session.ts";
import type { FieldInfo } from "./wire.ts";

/** Batches that may wait for the reader before the server is told to wait. */
const MAX_WAITING = 2;

/** The rows of a prepared select; `onFields` sees what the server says of them first. */
export async function* readBatches(
  session: MysqlSession,
  id: number,
  decoder: RowDecoder,
  onFields: (fields: readonly FieldInfo[]) => void,
): AsyncGenerator<RecordBatch> {
  const waiting: RecordBatch[] = [];
  let wake = Promise.withResolvers<void>();
  let failure: { readonly error: unknown } | undefined;
  let isOver = false;
  const ending = session.execute(id, {
    described: onFields,
    row: (packet) => {
      decoder.push(packet);
      if (!decoder.isFull) return;
      waiting.push(decoder.take());
      if (waiting.length >= MAX_WAITING) session.pause();
      wake.resolve();
    },
  }).catch((error: unknown) => {
    failure = { error };
  }).finally(() => {
    isOver = true;
    wake.resolve();
  });
  try {
    while (true) {
      const batch = waiting.shift();
      if (batch !== undefined) {
        if (!isOver && waiting.length === MAX_WAITING - 1) await session.resume();
        yield batch;
        continue;
      }
      if (isOver) break;
      await wake.promise;
      wake = Promise.withResolvers<void>();
    }
    await ending;
    if (failure !== undefined) throw session.reasonOf(failure.error);
    if (decoder.rows > 0) yield decoder.take();
  } finally {
    if (!isOver) await session.abandon();
    await ending;
  }
}
