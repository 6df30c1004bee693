import type { Capability } from "../../contract/mod.ts";

/** What object storage can do; declared in one place for the engine and the child. */
export const S3_CAPABILITIES: readonly Capability[] = ["GatedOperations", "ReplaceWrites", "ColumnPartitionedWrites"];
