import type { ConnectorDescription } from "../../contract/mod.ts";
import { LOCALFILES_CAPABILITIES } from "./capabilities.ts";
import { copyToFile } from "./copy.ts";
import { rootOf } from "./place.ts";
import { probeRoot } from "./probe.ts";
import { scanFiles } from "./scan.ts";
import { readThroughProcess } from "./universal_read.ts";
import { writeThroughProcess } from "./universal_write.ts";

/** Files of the local disk: DuckDB reads and writes them by itself, and some of them a process of the connector can. */
export const localfiles: ConnectorDescription = {
  name: "localfiles",
  version: "1.0.0",
  capabilities: new Set(LOCALFILES_CAPABILITIES),
  canRead: true,
  canWrite: true,
  universal: { read: true, write: true },
  connectionOptions: ["root"],
  plainOptions: ["root"],
  readOptions: ["format", "path", "delimiter", "layout", "sheet", "header", "lossy", "files_per_partition"],
  writeOptions: ["format", "path", "delimiter", "layout", "sheet", "header", "partition_by"],
  grant(config, context) {
    const root = rootOf(config, context).path;
    return { net: [], read: [root], write: [root], env: [] };
  },
  nativeScan: scanFiles,
  nativeCopy: copyToFile,
  universalRead: readThroughProcess,
  universalWrite: writeThroughProcess,
  probe: probeRoot,
};
