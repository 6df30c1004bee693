import type { ConnectorModule } from "../../../sdk/connector.ts";
import { LOCALFILES_CAPABILITIES } from "../capabilities.ts";
import { FileSink } from "./sink.ts";
import { FileSource } from "./source.ts";

/** Files of the local disk, without DuckDB: csv and tsv to read, those and JSON lines to write. */
export const connector: ConnectorModule = {
  name: "localfiles",
  version: "1.0.0",
  capabilities: LOCALFILES_CAPABILITIES,
  open: (_config, host) => ({ source: new FileSource(), sink: new FileSink(host) }),
};
