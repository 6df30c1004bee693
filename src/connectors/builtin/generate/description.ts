import type { ConnectorDescription } from "../../contract/mod.ts";

/** Made-up rows, for trying pipelines and the sandbox without any system at hand. */
export const generate: ConnectorDescription = {
  name: "generate",
  version: "1.0.0",
  capabilities: new Set([]),
  canRead: true,
  canWrite: false,
  universal: { read: true, write: false },
  connectionOptions: [],
  plainOptions: [],
  readOptions: ["rows", "batch_rows", "nested", "attempt"],
  writeOptions: [],
  grant: () => ({ net: [], read: [], write: [], env: [] }),
  nativeScan: () => undefined,
  nativeCopy: () => undefined,
};
