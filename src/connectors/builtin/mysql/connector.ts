import { type ConfigMap, ConnectorError } from "../../contract/mod.ts";
import type { ConnectorHost, ConnectorInstance, ConnectorModule } from "../../sdk/connector.ts";
import { MYSQL_CAPABILITIES } from "./capabilities.ts";
import { type MysqlConfig, readConfig } from "./config.ts";
import { withSession } from "./session.ts";
import { MysqlSink } from "./sink.ts";
import { MysqlSource } from "./source.ts";
import { toTrouble } from "./trouble.ts";

/** MySQL from version 8.0 on, or MariaDB from version 10.3 on. It never repeats anything by itself. */
export const connector: ConnectorModule = {
  name: "mysql",
  version: "1.0.0",
  capabilities: MYSQL_CAPABILITIES,
  open,
};

function open(raw: ConfigMap, host: ConnectorHost): ConnectorInstance {
  const { config, problems } = readConfig(raw);
  const [problem] = problems;
  if (config === undefined || problem !== undefined) {
    throw new ConnectorError(problem?.message ?? "A connection without options", {
      transient: false,
      code: "PZ0301",
      hint: problem?.hint,
    });
  }
  return {
    source: new MysqlSource(config, host),
    sink: new MysqlSink(config, host),
    check: (signal) => check(config, signal),
  };
}

async function check(config: MysqlConfig, signal: AbortSignal): Promise<void> {
  const doing = `Connecting to ${config.host}:${config.port}`;
  const explain = (error: unknown) => toTrouble(error, doing);
  await withSession(config, { purpose: "read", signal, explain }, async (session) => {
    const [row] = await session.query("SELECT VERSION()");
    const text = row?.[0] ?? "";
    const [, major = "0", minor = "0"] = /^(\d+)\.(\d+)/.exec(text) ?? [];
    const version = Number(major) * 100 + Number(minor);
    if (version >= (session.isMariaDb ? 1003 : 800)) return;
    throw new ConnectorError(`The server at ${config.host}:${config.port} is of version ${text}`, {
      transient: false,
      hint: "connector 'mysql' needs MySQL 8.0 or newer, or MariaDB 10.3 or newer",
    });
  });
}
