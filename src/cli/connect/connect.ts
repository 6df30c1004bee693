import { type CompiledDag, ContractTypes, type SourceLoadNode } from "../../compile/mod.ts";
import { type ConnectorSet, ownConnectors } from "../../connectors/mod.ts";
import { openDuckDb } from "../../duckdb/mod.ts";
import { maskFor } from "../../engine/mod.ts";
import { PzError, sortErrors } from "../../errors/mod.ts";
import { ordinal } from "../../util/mod.ts";
import { ChildCheck, type OpenSession } from "./child_check.ts";
import { type UsedConnection, usedConnections } from "./connection_use.ts";
import { contractDrift, type TypedColumn } from "./contract_drift.ts";
import { NativeCheck, opened } from "./native_check.ts";

export type ConnectOptions = {
  /** Where connectors are looked for; absent: inside pz. */
  readonly connectors?: ConnectorSet;
  readonly runId: string;
  /** How long a connection may take for one answer. */
  readonly timeoutMs?: number;
  /** How a connector's process is started; undefined: as a run does. */
  readonly openSession?: OpenSession;
};

/** What the connections of a project say. */
export type ConnectResult = {
  readonly problems: readonly PzError[];
  /** What connectors had to say, by connection. */
  readonly notes: readonly string[];
  readonly schemas: FoundSchemas;
};

/** The columns of each dataset without a contract, as `connection.entity`, by name. */
export type FoundSchemas = readonly (readonly [dataset: string, columns: readonly TypedColumn[]])[];

/** Asks one connection. Its methods throw nothing but bugs. */
export type ConnectionCheck = AsyncDisposable & {
  /** Reaches the system; what stands against the connection as a whole. */
  reach(): Promise<readonly PzError[]>;
  /** The columns of a dataset as they are there; none where a contract is all that can be known. */
  columnsOf(node: SourceLoadNode): Promise<FoundColumns>;
};

export type FoundColumns = { readonly columns: readonly TypedColumn[] } | { readonly problems: readonly PzError[] };

const TIMEOUT_MS = 30_000;
const AT_ONCE = 4;

/**
 * Reaches every connection that a node uses and changes nothing there, fetches the columns of every dataset and compares
 * them with its contract. The problems of all connections are collected.
 */
export async function checkConnections(dag: CompiledDag, options: ConnectOptions): Promise<ConnectResult> {
  const mask = maskFor(dag, false, options.connectors?.find);
  const queue = [...usedConnections(dag, options.connectors ?? ownConnectors())];
  await using database = await openDuckDb({ allowedPaths: opened(dag, queue) });
  const own = await database.connect();
  await own.run("CREATE SCHEMA staging");
  const types = new ContractTypes(own);
  const problems: PzError[] = [];
  const notes: string[] = [];
  const schemas = new Map<string, readonly TypedColumn[]>();

  const visit = async (used: UsedConnection) => {
    const facts = { project: dag.project, duckdb: await database.connect(), timeoutMs: TIMEOUT_MS, ...options };
    await using check = used.connector.probe === undefined
      ? new ChildCheck(used, facts, (note) => notes.push(note))
      : new NativeCheck(used, facts);
    const unreachable = await check.reach();
    problems.push(...unreachable);
    if (unreachable.length > 0) return;
    for (const node of used.sources) {
      const found = await check.columnsOf(node);
      if ("problems" in found) problems.push(...found.problems);
      else if (node.columns === undefined) schemas.set(`${node.connection.name}.${node.entity}`, found.columns);
      else if (found.columns.length > 0) {
        problems.push(...contractDrift(node, (await types.columns(node.columns)).columns, found.columns));
      }
    }
  };
  const visitAll = async () => {
    for (let used = queue.shift(); used !== undefined; used = queue.shift()) await visit(used);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, visitAll));
  return {
    problems: sortErrors(
      problems.map(({ code, message, file, line, column, hint }) =>
        new PzError(code, mask(message), { file, line, column, hint: hint === undefined ? undefined : mask(hint) })
      ),
    ),
    notes: notes.map(mask).sort(ordinal),
    schemas: [...schemas].sort(([a], [b]) => ordinal(a, b)),
  };
}
