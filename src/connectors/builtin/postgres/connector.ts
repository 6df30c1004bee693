import { type ConfigMap, ConnectorError } from "../../contract/mod.ts";
import type { ConnectorHost, ConnectorInstance, ConnectorModule } from "../../sdk/connector.ts";
import { type PostgresConfig, readConfig } from "./config.ts";
import { POSTGRES_CAPABILITIES } from "./capabilities.ts";
import { withSession } from "./session.ts";
import { PostgresSink } from "./sink.ts";
import { PostgresSource } from "./source.ts";
import { toTrouble } from "./trouble.ts";

const LEAST_VERSION = 100_000;

/** PostgreSQL, from version 10 on, over COPY's binary form. It never repeats anything by itself. */
export const connector: ConnectorModule = {
  name: "postgres",
  version: "1.0.0",
  capabilities: POSTGRES_CAPABILITIES,
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
  const source = new PostgresSource(config, host);
  return {
    source,
    sink: new PostgresSink(config, host),
    check: (signal) => check(config, signal),
    close: () => source[Symbol.asyncDispose](),
  };
}

async function check(config: PostgresConfig, signal: AbortSignal): Promise<void> {
  const doing = `Connecting to ${config.host}:${config.port}`;
  await withSession(config, signal, (error) => toTrouble(error, doing), async (session) => {
    const [row] = await session.query(
      "SELECT current_setting('server_version_num'), current_setting('server_version')",
    );
    const [number, text] = row ?? [];
    if (Number(number) >= LEAST_VERSION) return;
    throw new ConnectorError(`The server at ${config.host}:${config.port} is PostgreSQL ${text}`, {
      transient: false,
      hint: "connector 'postgres' needs version 10 or newer",
    });
  });
}
