import type { Mask } from "../util/mod.ts";
import { childOf, ConnectorSession, findConnector, type Grant, systemLayer } from "../connectors/mod.ts";
import type { LogLevel } from "../events/mod.ts";
import type { Connection } from "../project/mod.ts";
import { openStaging, type StagingOptions } from "../staging/mod.ts";
import type { Perform } from "./attempts.ts";
import { connectionFolder } from "./executors/staged_folder.ts";
import type { Pause } from "./pause.ts";
import type { RunOptions } from "./run.ts";
import type { DrainTable, Session, StagingArea } from "./run_context.ts";

/** What a run reaches the world through; tests put their own in. */
export type RunServices = {
  readonly openStaging: (options: StagingOptions) => Promise<StagingArea>;
  readonly openSession: (connection: Connection, options: RunOptions, redact: Mask) => Session;
  /** Undefined: staging's own. */
  readonly drain?: DrainTable;
  /** How one attempt of a node is done; undefined: by the executor of its kind. */
  readonly perform?: Perform;
  /** Numbers in [0, 1); undefined: the system's. */
  readonly random?: () => number;
  /** Milliseconds, of which only differences count; undefined: the system's. */
  readonly monotonic?: () => number;
  /** Waits by the same clock; undefined: the system's. */
  readonly pause?: Pause;
};

/** The real ones. */
export const SERVICES: RunServices = { openStaging, openSession };

const LOG_LEVELS: ReadonlySet<string> = new Set<LogLevel>(["trace", "debug", "info", "warn", "error", "critical"]);

function openSession(connection: Connection, options: RunOptions, redact: Mask): Session {
  const planned = options.plan.grants.find((entry) => entry.connection === connection.name);
  const used = planned?.stages === true ? withFolder(planned.grant, connection, options) : planned?.grant;
  const grant = used ?? { net: [], read: [], write: [], env: [] };
  const connector = (options.connectors?.find ?? findConnector)(connection.connector);
  return new ConnectorSession({
    ...childOf(
      connector === "planned" ? undefined : connector,
      connection.config,
      { projectRoot: options.dag.project.root },
      { sandbox: sandboxOf(options), grant },
    ),
    connector: connection.connector,
    connection: connection.name,
    grant,
    runId: options.runId,
    onLog: (level, message) => {
      options.bus.publish({
        event: "connector_log",
        level: isLogLevel(level) ? level : "unknown",
        connection: connection.name,
        message: redact(message),
      });
    },
    onNotice: once((message) => {
      options.bus.publish({ event: "connector_log", level: "warn", connection: connection.name, message });
    }, redact),
  });
}

/** A grant with the connection's folder of the run, which must be there when the process is confined to it. */
function withFolder(grant: Grant, { name }: Connection, { dag, runId }: RunOptions): Grant {
  const folder = connectionFolder(dag.project.root, runId, name);
  Deno.mkdirSync(folder, { recursive: true });
  return { ...grant, read: [...grant.read, folder], write: [...grant.write, folder] };
}

/** Where the plan says nothing against the system's layer, a process that can't have it must not run. */
function sandboxOf({ dag }: RunOptions): "auto" | "require" {
  return "landlock" in systemLayer() ? "require" : dag.project.engine.sandbox;
}

function isLogLevel(level: string): level is LogLevel {
  return LOG_LEVELS.has(level);
}

/** Tells each text the first time that it comes, as it may be shown. */
export function once(tell: (text: string) => void, redact: Mask): (text: string) => void {
  const told = new Set<string>();
  return (text) => {
    const shown = redact(text);
    if (told.has(shown)) return;
    told.add(shown);
    tell(shown);
  };
}
