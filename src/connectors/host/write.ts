import type { RecordBatch } from "../../util/arrow.ts";
import type { AbortSemantics, WriteResult } from "../contract/mod.ts";

/**
 * A write that is going on in a connector's process. Its calls don't overlap. Exactly one of `commit` and `abort` ends
 * it; after a commit was tried, abort is never called. Failures are `ConnectorError`s, or the reason of the signal.
 */
export type WriteHandle = {
  readonly abortSemantics: AbortSemantics;
  /** Whether another attempt at this write adds nothing where this one has landed. */
  readonly provesAttempt: boolean;
  /** Sends a batch; waits while the connector is busy with earlier ones. */
  write(batch: RecordBatch, signal: AbortSignal): Promise<void>;
  /** Sends rows of the key columns to delete, after the last `write`. */
  applyDeletes(keys: RecordBatch, signal: AbortSignal): Promise<void>;
  /** Rows that the destination has confirmed for good so far. */
  readonly acknowledgedRows: bigint;
  /** Before the first `write`: whether the write can go on after so many rows. */
  resumeFrom(rows: bigint, signal: AbortSignal): Promise<boolean>;
  /**
   * Never cancelled half-way. Until the connector has begun to commit, as when it still takes what was written, the
   * signal takes the write back and its reason is thrown; then it counts no more.
   */
  commit(signal?: AbortSignal): Promise<WriteResult>;
  /** Never throws: what is broken is given up. */
  abort(): Promise<void>;
};
