import { isIP } from "node:net";
import type { ConfigMap, ConfigProblem } from "../../contract/mod.ts";
import { readServerConfig, SERVER_OPTIONS, type ServerConfig } from "../shared/server_config.ts";

/** A connection's options, checked. */
export type MysqlConfig = ServerConfig;

/** The options that a connection may have. */
export const CONNECTION_OPTIONS = SERVER_OPTIONS;

/** Reads a connection's options; every problem is told, and none of them holds a value that may be secret. */
export function readConfig(
  config: ConfigMap,
): { readonly config?: MysqlConfig; readonly problems: readonly ConfigProblem[] } {
  const read = readServerConfig(config, { connector: "mysql", port: 3306, user: "user" });
  // The driver would hold the certificate against "localhost" then.
  if (read.config?.sslMode !== "verify-full" || isIP(read.config.host) === 0) return read;
  return {
    problems: [{
      code: "PZ0301",
      message: `Option "ssl_mode" is "verify-full", which needs a host by its name, and "host" is an address`,
      setting: "ssl_mode",
      hint: "give host the name that the server's certificate is made out to, or use ssl_mode: verify-ca",
    }],
  };
}
