import type { ConfigMap, ConnectorDescription, Grant } from "../../contract/mod.ts";
import { S3_CAPABILITIES } from "./capabilities.ts";
import { CONNECTION_OPTIONS, PLAIN_OPTIONS, readConfig } from "./config.ts";
import { netTargets } from "./endpoint.ts";
import { readStaged } from "./staged_read.ts";
import { writeStaged } from "./staged_write.ts";

/** Objects of any store that speaks the protocol of S3: a process moves them, and DuckDB reads and writes them here. */
export const s3: ConnectorDescription = {
  name: "s3",
  version: "1.0.0",
  capabilities: new Set(S3_CAPABILITIES),
  canRead: true,
  canWrite: true,
  universal: { read: false, write: false },
  connectionOptions: CONNECTION_OPTIONS,
  plainOptions: PLAIN_OPTIONS,
  readOptions: ["bucket", "path", "format", "delimiter", "layout", "sheet", "header", "lossy"],
  writeOptions: ["bucket", "path", "format", "delimiter", "layout", "sheet", "header", "partition_by"],
  grant,
  nativeScan: () => undefined,
  nativeCopy: () => undefined,
  stagedRead: readStaged,
  stagedWrite: writeStaged,
};

function grant(config: ConfigMap): Grant {
  const { config: checked } = readConfig(config);
  if (checked === undefined) return { net: [], read: [], write: [], env: [] };
  const { endpoint, root } = checked;
  return { net: netTargets(endpoint, root === undefined ? [] : [root.bucket]), read: [], write: [], env: [] };
}
