import type {
  ConfigMap,
  ConfigProblem,
  ConnectorContext,
  ConnectorDescription,
  DatasetSpec,
  NativeOutcome,
  NativeProbe,
  NativeScan,
} from "../../contract/mod.ts";
import { selectExact, typedColumns } from "../shared/exact_cast.ts";
import { attachTrouble } from "./attach_trouble.ts";
import { checkDatabasePath, databasePath } from "../shared/database_path.ts";
import { attachment, checkFile, tableOf, tableSql } from "./database_file.ts";
import { writeTable } from "./write.ts";

/** Tables of a DuckDB database file, attached to the engine's own DuckDB. */
export const duckdb: ConnectorDescription = {
  name: "duckdb",
  version: "1.0.0",
  capabilities: new Set([
    "NativeScan",
    "NativeCopy",
    "ReplaceWrites",
    "Merge",
    "Transactional",
    "BoundedWindow",
    "InclusiveWatermarkBound",
  ]),
  canRead: true,
  canWrite: true,
  universal: { read: false, write: false },
  connectionOptions: ["path"],
  plainOptions: ["path"],
  readOptions: [],
  writeOptions: [],
  grant(config, context) {
    const path = databasePath(config, context);
    const files = path === undefined ? [] : [path];
    return { net: [], read: files, write: files, env: [] };
  },
  nativeScan: readTable,
  nativeCopy: writeTable,
  setupTrouble: attachTrouble,
  probe: probeDatabase,
};

function probeDatabase(config: ConfigMap, context: ConnectorContext): NativeProbe {
  const problems: ConfigProblem[] = [];
  const path = checkDatabasePath("duckdb", config, context, problems);
  const stands = path !== undefined && checkFile(path, problems) === "file" && problems.length === 0;
  return { problems, setup: stands ? [attachment(path, "read")] : [] };
}

function readTable(spec: DatasetSpec, context: ConnectorContext): NativeOutcome<NativeScan> {
  const problems: ConfigProblem[] = [];
  const path = checkDatabasePath("duckdb", spec.config, context, problems);
  const table = tableOf(path, spec.entity, problems);
  const columns = typedColumns(spec.columns, () => false, problems);
  if (path !== undefined && checkFile(path, problems) === "nothing") {
    const message = `There is no database "${path}" for connection "${spec.connection}"`;
    problems.push({ code: "PZ0353", message, setting: "path" });
  }
  if (path === undefined || table === undefined || problems.length > 0) return { ok: false, problems };
  const relation = tableSql(table);
  return {
    ok: true,
    value: {
      ...(columns === undefined
        ? { fragment: relation, rowCount: `SELECT count(*) FROM ${relation}` }
        : { fragment: selectExact(columns, relation), uncast: relation }),
      setup: [attachment(path)],
      mechanism: "attach",
      schemaInferred: false,
      reads: { files: [path], folders: [] },
    },
  };
}
