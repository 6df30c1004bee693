import type { Capability } from "../../contract/mod.ts";

/** What files of the local disk can do. */
export const LOCALFILES_CAPABILITIES: readonly Capability[] = [
  "NativeScan",
  "NativeCopy",
  "PartitionedRead",
  "ReplaceWrites",
  "BoundedWindow",
  "ColumnPartitionedWrites",
];
