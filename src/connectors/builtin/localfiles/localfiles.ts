import type { ConnectorDescription } from "../../contract/mod.ts";
import { copyToFile } from "./copy.ts";
import { rootOf } from "./place.ts";
import { probeRoot } from "./probe.ts";
import { scanFiles } from "./scan.ts";

/** Files of the local disk: DuckDB reads and writes them by itself. */
export const localfiles: ConnectorDescription = {
  name: "localfiles",
  version: "1.0.0",
  capabilities: new Set(["NativeScan", "NativeCopy", "ReplaceWrites", "BoundedWindow", "ColumnPartitionedWrites"]),
  canRead: true,
  canWrite: true,
  universal: { read: false, write: false },
  connectionOptions: ["root"],
  plainOptions: ["root"],
  readOptions: ["format", "path", "delimiter", "layout", "sheet", "header", "lossy"],
  writeOptions: ["format", "path", "delimiter", "layout", "sheet", "header", "partition_by"],
  grant(config, context) {
    const root = rootOf(config, context).path;
    return { net: [], read: [root], write: [root], env: [] };
  },
  nativeScan: scanFiles,
  nativeCopy: copyToFile,
  probe: probeRoot,
};
