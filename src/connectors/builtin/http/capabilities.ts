import type { Capability } from "../../contract/mod.ts";

/** What the connector can do; declared in one place for the engine and the child. */
export const HTTP_CAPABILITIES: readonly Capability[] = [
  "GatedOperations",
  "StablePartitionIds",
  "CheckpointableReads",
  "Merge",
  "CheckpointableWrites",
];
