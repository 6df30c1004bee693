import { type ConfigMap, ConnectorError } from "../../contract/mod.ts";
import type { ConnectorHost, ConnectorInstance, ConnectorModule } from "../../sdk/mod.ts";
import { SQLITE_CAPABILITIES } from "./capabilities.ts";
import { Database } from "./database.ts";
import { SqliteSink } from "./sink.ts";
import { SqliteSource } from "./source.ts";
import { toTrouble } from "./trouble.ts";

/** SQLite, by the library that the runtime brings. It never repeats anything by itself. */
export const connector: ConnectorModule = {
  name: "sqlite",
  version: "1.0.0",
  capabilities: SQLITE_CAPABILITIES,
  open,
};

function open(config: ConfigMap, host: ConnectorHost): ConnectorInstance {
  const path = config["path"];
  if (typeof path !== "string" || path === "") {
    throw new ConnectorError(`A sqlite connection needs "path", the path of its database file`, {
      transient: false,
      code: "PZ0301",
    });
  }
  const source = new SqliteSource(path, host);
  return {
    source,
    sink: new SqliteSink(path, host),
    check: (signal) => check(path, host, signal),
    close: () => Promise.resolve(source[Symbol.dispose]()),
  };
}

function check(path: string, host: ConnectorHost, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    signal.throwIfAborted();
    if (!isThere(path)) {
      host.notice(`There is no database "${path}" yet; a write makes it`);
      return resolve();
    }
    try {
      using database = new Database(path, "read");
      database.rows("SELECT count(*) FROM sqlite_master");
      resolve();
    } catch (error) {
      throw toTrouble(error, `Opening "${path}"`);
    }
  });
}

/** The runtime may not look at the folder of a file that it may use. */
function isThere(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    return false;
  }
}
