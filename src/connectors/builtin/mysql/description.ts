import type {
  ConfigMap,
  ConfigProblem,
  ConnectorDescription,
  DatasetSpec,
  Grant,
  OutputSpec,
} from "../../contract/mod.ts";
import { netTarget } from "../shared/server_config.ts";
import { MYSQL_CAPABILITIES } from "./capabilities.ts";
import { CONNECTION_OPTIONS, readConfig } from "./config.ts";
import { tableOf } from "./name.ts";
import { readOptions } from "./options.ts";

/** Tables and queries of a MySQL server from version 8.0 on, or of MariaDB from version 10.3 on. */
export const mysql: ConnectorDescription = {
  name: "mysql",
  version: "1.0.0",
  capabilities: new Set(MYSQL_CAPABILITIES),
  canRead: true,
  canWrite: true,
  universal: { read: true, write: true },
  connectionOptions: CONNECTION_OPTIONS,
  plainOptions: CONNECTION_OPTIONS.filter((name) => name !== "password"),
  readOptions: ["query", "partition_column", "partitions", "zero_dates"],
  writeOptions: [],
  grant,
  nativeScan: checkRead,
  nativeCopy: checkWrite,
};

function grant(config: ConfigMap): Grant {
  const { config: checked } = readConfig(config);
  if (checked === undefined) return { net: [], read: [], write: [], env: [] };
  return {
    net: [netTarget(checked)],
    read: checked.sslRootCert === undefined ? [] : [checked.sslRootCert],
    write: [],
    env: [],
  };
}

/** There is no native path; a dataset that can't be read is refused here, before anything runs. */
function checkRead(spec: DatasetSpec): { readonly ok: false; readonly problems: readonly ConfigProblem[] } | undefined {
  const options = readOptions(spec.options);
  const problems = [...readConfig(spec.config).problems, ...options.problems];
  if (options.query === undefined) problems.push(...tableOf(spec.entity).problems);
  return problems.length === 0 ? undefined : { ok: false, problems };
}

function checkWrite(spec: OutputSpec): { readonly ok: false; readonly problems: readonly ConfigProblem[] } | undefined {
  const problems = [...readConfig(spec.config).problems, ...tableOf(spec.entity).problems];
  return problems.length === 0 ? undefined : { ok: false, problems };
}
