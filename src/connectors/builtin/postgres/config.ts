import type { ConfigMap, ConfigProblem } from "../../contract/mod.ts";
import { readServerConfig, SERVER_OPTIONS, type ServerConfig } from "../shared/server_config.ts";

/** A connection's options, checked. */
export type PostgresConfig = ServerConfig;

/** The options that a connection may have. */
export const CONNECTION_OPTIONS = SERVER_OPTIONS;

/** Reads a connection's options; every problem is told, and none of them holds a value that may be secret. */
export function readConfig(
  config: ConfigMap,
): { readonly config?: PostgresConfig; readonly problems: readonly ConfigProblem[] } {
  return readServerConfig(config, { connector: "postgres", port: 5432, user: "role" });
}
