import type { SourceLoadNode } from "../../compile/mod.ts";
import { childOf, ConnectorError, ConnectorSession, systemLayer } from "../../connectors/mod.ts";
import { type DuckDbConnection, qualified } from "../../duckdb/mod.ts";
import { isErrorCode, PzError } from "../../errors/mod.ts";
import { refuseClashes } from "../../engine/mod.ts";
import { datasetSpec } from "../../plan/mod.ts";
import type { KeyPlaces, Project, SourcePosition } from "../../project/mod.ts";
import { ingestArrow, IngestError } from "../../staging/mod.ts";
import type { ConnectionCheck, FoundColumns } from "./connect.ts";
import type { UsedConnection } from "./connection_use.ts";

/** What of a connector's session is used. */
export type CheckedSession = Pick<ConnectorSession, "check" | "getSchema"> & AsyncDisposable;

/** Opens the session of a connection; what its connector logs goes to `onLog`. */
export type OpenSession = (used: UsedConnection, onLog: (level: string, message: string) => void) => CheckedSession;

export type ChildFacts = {
  readonly project: Project;
  readonly duckdb: DuckDbConnection;
  readonly runId: string;
  readonly timeoutMs: number;
  readonly openSession?: OpenSession;
};

/** Where a request comes from in the project, and each option that its answer may speak of. */
type Place = { readonly position: SourcePosition; readonly options?: KeyPlaces };

/** How a connector begins what it says of one option. */
const OPTION = /^Option "([^"]+)"/;

const QUIET_LEVELS: ReadonlySet<string> = new Set(["trace", "debug"]);

/** Asks a connection through its connector's process. */
export class ChildCheck implements ConnectionCheck {
  readonly #used: UsedConnection;
  readonly #facts: ChildFacts;
  readonly #session: CheckedSession;

  /** @param note takes what the connector has to say */
  constructor(used: UsedConnection, facts: ChildFacts, note: (text: string) => void) {
    this.#used = used;
    this.#facts = facts;
    const { connection, connector } = used;
    const told = new Set<string>();
    const onNotice = (message: string) => {
      if (!told.has(message)) note(`connection '${connection.name}': ${message}`);
      told.add(message);
    };
    const onLog = (level: string, message: string) => {
      if (!QUIET_LEVELS.has(level)) onNotice(message);
    };
    const { root, engine } = facts.project;
    const grant = connector.grant(connection.config, { projectRoot: root });
    this.#session = facts.openSession?.(used, onLog) ?? new ConnectorSession({
      ...childOf(connector, connection.config, { projectRoot: root }, {
        sandbox: "landlock" in systemLayer() ? "require" : engine.sandbox,
        grant,
      }),
      connector: connection.connector,
      connection: connection.name,
      grant,
      runId: facts.runId,
      onLog,
      onNotice,
    });
  }

  async reach(): Promise<readonly PzError[]> {
    const { connection } = this.#used;
    const what = `connection '${connection.name}' can't be used`;
    const place = { position: connection.position, options: connection.places ?? {} };
    const answer = await this.#ask(what, place, (signal) => this.#session.check(signal));
    return "problems" in answer ? answer.problems : [];
  }

  async columnsOf(node: SourceLoadNode): Promise<FoundColumns> {
    // Its process moves files as they are, and only a read shows what they hold.
    const { connector } = this.#used;
    if (connector.stagedRead !== undefined) return { problems: [] };
    // Where it gives texts, the columns and their types are those of the contract.
    const asked = connector.universalRead?.(datasetSpec(node), { projectRoot: this.#facts.project.root });
    if (asked?.ok === true && asked.value.contract !== undefined) return { problems: [] };
    const what = `the columns of '${node.connection.name}.${node.entity}' can't be fetched`;
    const ofRead = node.connection.entities[node.entity]?.places?.read;
    const place = { position: node.position, ...(ofRead === undefined ? {} : { options: ofRead }) };
    const answer = await this.#ask(what, place, async (signal) => {
      const schema = await this.#session.getSchema(datasetSpec(node), signal);
      refuseClashes(node, schema.fields.map(({ name }) => name));
      // An empty load gives the types that the rows will have in DuckDB.
      await ingestArrow(this.#facts.duckdb, node.relation, schema, nothing(), { signal });
      return (await this.#facts.duckdb.prepare(`SELECT * FROM ${qualified("staging", node.relation)}`)).columns;
    });
    return "problems" in answer ? answer : { columns: answer.value };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#session[Symbol.asyncDispose]();
  }

  /** The answer to one request, in its time, or what went wrong. */
  async #ask<T>(
    what: string,
    place: Place,
    request: (signal: AbortSignal) => Promise<T>,
  ): Promise<{ readonly value: T } | { readonly problems: readonly PzError[] }> {
    const { timeoutMs } = this.#facts;
    const { position } = place;
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(new ConnectorError("", { transient: true })), timeoutMs);
    try {
      return { value: await request(late.signal) };
    } catch (error) {
      if (late.signal.aborted) {
        const text = `${what}: no answer within ${timeoutMs / 1000} s`;
        return { problems: [new PzError("PZ0330", text, { ...position, hint: "see that the system can be reached" })] };
      }
      if (error instanceof IngestError) {
        return { problems: [new PzError("PZ0330", `${what}: ${error.message}`, position)] };
      }
      if (error instanceof PzError) return { problems: [error] };
      if (error instanceof ConnectorError) return { problems: [this.#problem(what, place, error)] };
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  #problem(what: string, { position, options }: Place, error: ConnectorError): PzError {
    const { denied, code, hint } = error;
    if (denied === undefined) {
      const known = code !== undefined && isErrorCode(code) ? code : "PZ0330";
      const option = OPTION.exec(error.message)?.[1];
      const at = option === undefined ? undefined : options?.[option];
      return new PzError(known, `${what}: ${error.message}`, { ...(at ?? position), hint });
    }
    const target = denied.target === "" ? "" : ` to '${denied.target}'`;
    return new PzError("PZ0740", `${what}: its connector was denied ${denied.permission} access${target}`, {
      ...position,
      hint: hint ?? "pz plan prints what each connection may touch",
    });
  }
}

async function* nothing(): AsyncGenerator<never> {}
