import type { Capability } from "../../contract/mod.ts";

/** What the connector can do; declared in one place for the engine and the child. */
export const POSTGRES_CAPABILITIES: readonly Capability[] = [
  "ColumnPruning",
  "PredicatePushdown",
  "PartitionedRead",
  "StablePartitionIds",
  "Merge",
  "Transactional",
  "ReplaceWrites",
  "CheckpointableWrites",
  "BoundedWindow",
  "InclusiveWatermarkBound",
];
