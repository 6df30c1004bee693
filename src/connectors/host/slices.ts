import type { RecordBatch } from "../../util/arrow.ts";

/** What is encoded at once: a few milliseconds of work. */
const SLICE_BYTES = 2 << 20;
/** Slices begin at whole bytes and words of the bitmaps, so that these need not be shifted. */
const ROW_STEP = 64;

/** A batch in parts of about 2 MB, in order; a small one as it is. */
export function* slices(batch: RecordBatch): Generator<RecordBatch, undefined> {
  const bytes = batch.data.byteLength;
  if (bytes <= SLICE_BYTES * 1.5) {
    yield batch;
    return undefined;
  }
  const rows = Math.max(ROW_STEP, Math.floor(batch.numRows * SLICE_BYTES / bytes / ROW_STEP) * ROW_STEP);
  for (let from = 0; from < batch.numRows; from += rows) {
    yield batch.slice(from, Math.min(batch.numRows, from + rows));
  }
  return undefined;
}
