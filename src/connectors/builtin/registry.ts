import type { ConnectorDescription } from "../contract/mod.ts";
import { duckdb } from "./duckdb/duckdb.ts";
import { generate } from "./generate/description.ts";
import { http } from "./http/description.ts";
import { localfiles } from "./localfiles/localfiles.ts";
import { mysql } from "./mysql/description.ts";
import { postgres } from "./postgres/description.ts";
import { s3 } from "./s3/description.ts";
import { sqlite } from "./sqlite/description.ts";

const BUILT: readonly ConnectorDescription[] = [duckdb, generate, http, localfiles, mysql, postgres, s3, sqlite];

const PLANNED: ReadonlySet<string> = new Set([
  "azureblob",
  "ducklake",
  "gcs",
  "iceberg",
  "motherduck",
  "quack",
  "sftp",
  "sqlserver",
]);

/** Every connector that this build holds, by name. */
export function builtinConnectors(): readonly ConnectorDescription[] {
  return BUILT;
}

/** The connector of a name, `planned` for one that pz knows by name and does not hold yet, or undefined. */
export function findConnector(name: string): ConnectorDescription | "planned" | undefined {
  return BUILT.find((connector) => connector.name === name) ?? (PLANNED.has(name) ? "planned" : undefined);
}
