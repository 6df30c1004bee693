import type {
  ConfigProblem,
  ConnectorContext,
  ConnectorDescription,
  DatasetSpec,
  NativeOutcome,
  OutputSpec,
  UniversalRead,
  UniversalWrite,
} from "../../contract/mod.ts";
import { realPath } from "../localfiles/place.ts";
import { readOptions } from "../shared/read_options.ts";
import { SQLITE_CAPABILITIES } from "./capabilities.ts";
import { tableOf } from "./name.ts";
import { checkDatabasePath, databasePath } from "../shared/database_path.ts";
import { checkFile, readSideFiles, withSideFiles } from "./place.ts";

/** Tables of a SQLite database file. */
export const sqlite: ConnectorDescription = {
  name: "sqlite",
  version: "1.0.0",
  capabilities: new Set(SQLITE_CAPABILITIES),
  canRead: true,
  canWrite: true,
  universal: { read: true, write: true },
  connectionOptions: ["path"],
  plainOptions: ["path"],
  readOptions: ["partition_column", "partitions"],
  writeOptions: [],
  grant(config, context) {
    const path = databasePath(config, context);
    const files = path === undefined ? [] : withSideFiles(path);
    return { net: [], read: files, write: files, env: [] };
  },
  // The process does not know the project's folder.
  childConfig(config, context) {
    const path = databasePath(config, context);
    return path === undefined ? config : { ...config, path };
  },
  nativeScan: () => undefined,
  nativeCopy: () => undefined,
  universalRead,
  universalWrite,
};

function universalRead(spec: DatasetSpec, context: ConnectorContext): NativeOutcome<UniversalRead> {
  const problems: ConfigProblem[] = [];
  const path = checkDatabasePath("sqlite", spec.config, context, problems);
  problems.push(...readOptions(spec.options).problems, ...tableOf(spec.entity).problems);
  if (path !== undefined) checkFile(path, { mustExist: true, connection: spec.connection }, problems);
  if (path === undefined || problems.length > 0) return { ok: false, problems };
  return {
    ok: true,
    value: {
      options: spec.options,
      grant: { read: [], write: readSideFiles(path) },
      reads: { files: [path], folders: [] },
    },
  };
}

function universalWrite(spec: OutputSpec, context: ConnectorContext): NativeOutcome<UniversalWrite> {
  const problems: ConfigProblem[] = [];
  const path = checkDatabasePath("sqlite", spec.config, context, problems);
  problems.push(...tableOf(spec.entity).problems);
  if (path !== undefined) checkFile(path, { mustExist: false, connection: spec.connection }, problems);
  if (path === undefined || problems.length > 0) return { ok: false, problems };
  return {
    ok: true,
    value: {
      options: spec.options,
      grant: { read: [], write: [] },
      moves: [],
      target: { path: realPath(path), wholeFolder: false, table: spec.entity.toLowerCase() },
    },
  };
}
