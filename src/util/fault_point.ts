/** A place where a process may die, be stopped or meet a full disk at the worst moment, in the order of a run. */
export type FaultPoint =
  | "run_begun"
  | "staging_copied"
  | "staging_pruned"
  | "staging_open"
  | "node_begun"
  | "batch_read"
  | "rows_staged"
  | "partition_staged"
  | "partition_done"
  | "load_done"
  | "write_begun"
  | "batch_written"
  | "rows_acknowledged"
  | "rows_written"
  | "copy_written"
  | "copy_flushed"
  | "folder_put_aside"
  | "folder_in_place"
  | "committing"
  | "committed"
  | "journal_written"
  | "receipt_written"
  | "run_ending"
  | "run_ended";

/** Does nothing. Tests put another module in the place of this one, to make something happen at a named point. */
export function faultPoint(_name: FaultPoint): void {}
