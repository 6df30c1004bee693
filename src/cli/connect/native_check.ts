import { isAbsolute, relative } from "node:path";
import type { CompiledDag, SourceLoadNode } from "../../compile/mod.ts";
import type { ConfigProblem, NativeScan } from "../../connectors/mod.ts";
import { type AllowedPaths, type DuckDbConnection, DuckDbError } from "../../duckdb/mod.ts";
import { PzError } from "../../errors/mod.ts";
import { datasetSpec } from "../../plan/mod.ts";
import type { Project } from "../../project/mod.ts";
import type { ConnectionCheck, FoundColumns } from "./connect.ts";
import type { UsedConnection } from "./connection_use.ts";
import { missingColumn } from "./contract_drift.ts";

type NativeFacts = { readonly project: Project; readonly duckdb: DuckDbConnection };

/** What DuckDB must open to look into the datasets of connections. */
export function opened(dag: CompiledDag, used: readonly UsedConnection[]): AllowedPaths {
  const context = { projectRoot: dag.project.root };
  const native = used.filter(({ connector }) => connector.probe !== undefined);
  const reads = native.flatMap(({ connector, sources }) =>
    sources.map((node) => connector.nativeScan(datasetSpec(node), context))
  ).flatMap((outcome) => outcome?.ok === true && outcome.value.reads !== undefined ? [outcome.value.reads] : []);
  return {
    files: reads.flatMap(({ files }) => files),
    folders: [
      ...reads.flatMap(({ folders }) => folders),
      ...native.flatMap(({ connector, connection }) => connector.grant(connection.config, context).read),
    ],
  };
}

/** Asks a connection whose data DuckDB reads by itself. */
export class NativeCheck implements ConnectionCheck {
  readonly #used: UsedConnection;
  readonly #facts: NativeFacts;

  constructor(used: UsedConnection, facts: NativeFacts) {
    this.#used = used;
    this.#facts = facts;
  }

  async reach(): Promise<readonly PzError[]> {
    const { connection, connector, sources, sinks } = this.#used;
    const use = { reads: sources.length > 0, writes: sinks.length > 0 };
    const probe = connector.probe?.(connection.config, { projectRoot: this.#facts.project.root }, use);
    const fault = (message: string, hint: string | undefined) =>
      new PzError("PZ0330", `connection '${connection.name}' can't be used: ${message}`, {
        ...connection.position,
        hint,
      });
    if (probe === undefined) return [];
    if (probe.problems.length > 0) return probe.problems.map(({ message, hint }) => fault(message, hint));
    try {
      for (const statement of probe.setup) await this.#facts.duckdb.run(statement);
      return [];
    } catch (error) {
      if (!(error instanceof DuckDbError)) throw error;
      const trouble = connector.setupTrouble?.(error.message, connection.config);
      return [fault(trouble?.message ?? `DuckDB error of kind '${error.kind}'`, trouble?.hint)];
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {}

  async columnsOf(node: SourceLoadNode): Promise<FoundColumns> {
    const context = { projectRoot: this.#facts.project.root };
    const outcome = this.#used.connector.nativeScan(datasetSpec(node), context);
    if (outcome === undefined) return { columns: [] };
    if (!outcome.ok) return { problems: outcome.problems.map((problem) => declined(node, problem)) };
    const scan = outcome.value;
    const relation = node.columns === undefined ? scan.fragment : scan.uncast;
    if (relation === undefined) return { columns: [] };
    try {
      return { columns: (await this.#facts.duckdb.prepare(`SELECT * FROM ${relation}`)).columns };
    } catch (error) {
      if (!(error instanceof DuckDbError)) throw error;
      return { problems: [await this.#unreadable(node, scan, error)] };
    }
  }

  async #unreadable(node: SourceLoadNode, scan: NativeScan, error: DuckDbError): Promise<PzError> {
    const { duckdb, project } = this.#facts;
    const name = `${node.connection.name}.${node.entity}`;
    const found = await scan.diagnose?.((sql) => duckdb.rows(sql), error.message).catch(() => undefined);
    if (found === undefined) {
      return new PzError("PZ0330", `'${name}' can't be read: ${error.message.split("\n", 1)[0] ?? ""}`, node.position);
    }
    const path = relative(project.root, found.file);
    return new PzError("PZ0330", `'${name}' can't be read: ${found.message}`, {
      file: path.startsWith("..") || isAbsolute(path) ? found.file : path,
      line: found.line,
      hint: found.hint,
    });
  }
}

function declined(node: SourceLoadNode, problem: ConfigProblem): PzError {
  const { code, message, hint, missingColumn: column } = problem;
  if (column !== undefined) return missingColumn(node, column, hint);
  return new PzError(code, `${node.connection.name}.${node.entity}: ${message}`, { ...node.position, hint });
}
