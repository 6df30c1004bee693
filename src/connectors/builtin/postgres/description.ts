import type {
  ConfigMap,
  ConfigProblem,
  ConnectorDescription,
  DatasetSpec,
  Grant,
  OutputSpec,
} from "../../contract/mod.ts";
import { POSTGRES_CAPABILITIES } from "./capabilities.ts";
import { CONNECTION_OPTIONS, readConfig } from "./config.ts";
import { tableOf } from "./name.ts";
import { readOptions } from "../shared/read_options.ts";

/** Tables and queries of a PostgreSQL server, from version 10 on. */
export const postgres: ConnectorDescription = {
  name: "postgres",
  version: "1.0.0",
  capabilities: new Set(POSTGRES_CAPABILITIES),
  canRead: true,
  canWrite: true,
  universal: { read: true, write: true },
  connectionOptions: CONNECTION_OPTIONS,
  plainOptions: CONNECTION_OPTIONS.filter((name) => name !== "password"),
  readOptions: ["query", "partition_column", "partitions"],
  writeOptions: [],
  grant,
  nativeScan: checkRead,
  nativeCopy: checkWrite,
  resumesWrite: ({ mode, checkpointRows }) => mode === "append" && checkpointRows !== undefined,
};

function grant(config: ConfigMap): Grant {
  const { config: checked } = readConfig(config);
  if (checked === undefined) return { net: [], read: [], write: [], env: [] };
  const host = checked.host.includes(":") ? `[${checked.host}]` : checked.host;
  return {
    net: [`${host}:${checked.port}`],
    read: checked.sslRootCert === undefined ? [] : [checked.sslRootCert],
    write: [],
    env: [],
  };
}

/** There is no native path; a dataset that can't be read is refused here, before anything runs. */
function checkRead(spec: DatasetSpec): { readonly ok: false; readonly problems: readonly ConfigProblem[] } | undefined {
  const problems = [...readConfig(spec.config).problems];
  const options = readOptions(spec.options);
  problems.push(...options.problems);
  if (options.query === undefined) problems.push(...tableOf(spec.entity).problems);
  return problems.length === 0 ? undefined : { ok: false, problems };
}

function checkWrite(spec: OutputSpec): { readonly ok: false; readonly problems: readonly ConfigProblem[] } | undefined {
  const problems = [...readConfig(spec.config).problems, ...tableOf(spec.entity).problems];
  return problems.length === 0 ? undefined : { ok: false, problems };
}
