import { ident } from "../../../duckdb/mod.ts";
import type {
  ConfigMap,
  ConfigProblem,
  ConnectorDescription,
  DatasetSpec,
  Grant,
  NativeOutcome,
  OutputSpec,
  UniversalRead,
} from "../../contract/mod.ts";
import { selectChecked } from "../shared/checked_cast.ts";
import { typedColumns } from "../shared/exact_cast.ts";
import { HTTP_CAPABILITIES } from "./capabilities.ts";
import { CONNECTION_OPTIONS, hostAndPort, readConfig } from "./config.ts";
import { diagnose, PLACE_OPTION } from "./place.ts";
import { READ_OPTIONS, readOptions } from "./read_options.ts";
import { WRITE_OPTIONS, writeOptions } from "./write_options.ts";

type Refused = { readonly ok: false; readonly problems: readonly ConfigProblem[] };

/** Records of an HTTP API, as JSON. */
export const http: ConnectorDescription = {
  name: "http",
  version: "1.0.0",
  capabilities: new Set(HTTP_CAPABILITIES),
  canRead: true,
  canWrite: true,
  universal: { read: true, write: true },
  connectionOptions: CONNECTION_OPTIONS,
  plainOptions: CONNECTION_OPTIONS.filter((name) => name !== "auth" && name !== "headers"),
  readOptions: READ_OPTIONS,
  writeOptions: WRITE_OPTIONS,
  grant,
  nativeScan: checkRead,
  nativeCopy: checkWrite,
  universalRead: askForTexts,
};

function grant(config: ConfigMap): Grant {
  const { config: checked } = readConfig(config);
  if (checked === undefined) return { net: [], read: [], write: [], env: [] };
  return {
    net: [...new Set([hostAndPort(new URL(checked.baseUrl)), ...checked.allowed])],
    read: checked.sslRootCert === undefined ? [] : [checked.sslRootCert],
    write: [],
    env: [],
  };
}

/** There is no native path; a dataset that can't be read is refused here, before anything runs. */
function checkRead(spec: DatasetSpec): Refused | undefined {
  const { columns = [] } = spec;
  const problems = [...readConfig(spec.config).problems, ...readOptions(spec.options, columns.length === 0).problems];
  typedColumns(columns, () => false, problems);
  return problems.length === 0 ? undefined : { ok: false, problems };
}

function checkWrite(spec: OutputSpec): Refused | undefined {
  const problems = [...readConfig(spec.config).problems, ...writeOptions(spec).problems];
  return problems.length === 0 ? undefined : { ok: false, problems };
}

/** The process gives texts, whose types come from the same checks as those of text files. */
function askForTexts(spec: DatasetSpec): NativeOutcome<UniversalRead> {
  const problems: ConfigProblem[] = [];
  const columns = typedColumns(spec.columns, () => false, problems);
  if (problems.length > 0) return { ok: false, problems };
  const grant = { read: [], write: [] };
  const typed = columns?.filter(({ type }) => type !== "VARCHAR") ?? [];
  if (columns === undefined || typed.length === 0) return { ok: true, value: { options: spec.options, grant } };
  let place = PLACE_OPTION;
  while (columns.some(({ name }) => name.toLowerCase() === place)) place += "_";
  const path = String(spec.options["path"]);
  return {
    ok: true,
    value: {
      options: { ...spec.options, [PLACE_OPTION]: place },
      grant,
      contract: (relation) => selectChecked(columns, columns.map(({ name }) => ident(name)), relation),
      diagnose: (query, relation) => diagnose(query, relation, { columns: typed, place, path }),
    },
  };
}
