import type { Mask } from "../util/mod.ts";
import { ConnectorSession } from "../connectors/mod.ts";
import type { LogLevel } from "../events/mod.ts";
import type { Connection } from "../project/mod.ts";
import { openStaging, type StagingOptions } from "../staging/mod.ts";
import type { RunOptions } from "./run.ts";
import type { Session, StagingArea } from "./run_context.ts";

/** What a run reaches the world through; tests put their own in. */
export type RunServices = {
  readonly openStaging: (options: StagingOptions) => Promise<StagingArea>;
  readonly openSession: (connection: Connection, options: RunOptions, redact: Mask) => Session;
  /** Numbers in [0, 1); undefined: the system's. */
  readonly random?: () => number;
};

/** The real ones. */
export const SERVICES: RunServices = { openStaging, openSession };

const LOG_LEVELS: ReadonlySet<string> = new Set<LogLevel>(["trace", "debug", "info", "warn", "error", "critical"]);

function openSession(connection: Connection, options: RunOptions, redact: Mask): Session {
  const grant = options.plan.grants.find((entry) => entry.connection === connection.name)?.grant;
  return new ConnectorSession({
    connector: connection.connector,
    connection: connection.name,
    config: connection.config,
    grant: grant ?? { net: [], read: [], write: [], env: [] },
    runId: options.runId,
    onLog: (level, message) => {
      options.bus.publish({
        event: "connector_log",
        level: isLogLevel(level) ? level : "unknown",
        connection: connection.name,
        message: redact(message),
      });
    },
  });
}

function isLogLevel(level: string): level is LogLevel {
  return LOG_LEVELS.has(level);
}
