import { type DuckDbConnection, DuckDbError, ident, openDuckDb, qualified } from "../duckdb/mod.ts";
import { fail, type Outcome, PzError, succeed } from "../errors/mod.ts";
import { nearMiss, ordinal } from "../util/mod.ts";
import { contractColumns } from "./contract_columns.ts";
import { CONTRACT_TYPES } from "./contract_types.ts";
import type { CompiledDag, PipelineNode, SourceLoadNode } from "./dag.ts";
import { sqlError } from "./sql_error.ts";
import { isOneQuery } from "./statements.ts";

/**
 * Phase 3: plans every pipeline's SQL in a throwaway in-memory DuckDB against empty tables made from the contracts.
 * Errors (PZ0401) point into the templates; the notices name the pipelines that were left out and why.
 */
export async function dryCompile(dag: CompiledDag): Promise<Outcome<{ readonly checked: number }>> {
  await using database = await openDuckDb({ allowedPaths: { files: [], folders: [] } });
  using connection = await database.connect();
  await connection.run("CREATE SCHEMA staging");
  return await new DryRun(connection, dag).all();
}

/** Why a relation is not in the catalog: the sources without a contract behind it, if that is why. */
type Absence = ReadonlySet<string>;

const BROKEN: Absence = new Set();

/** One pass over a DAG in its order; relations appear in the catalog as soon as their columns are known. */
class DryRun {
  readonly #connection: DuckDbConnection;
  readonly #dag: CompiledDag;
  readonly #errors: PzError[] = [];
  readonly #notices: string[] = [];
  /** By node id. */
  readonly #absent = new Map<string, Absence>();
  readonly #pipelines: ReadonlySet<string>;

  constructor(connection: DuckDbConnection, dag: CompiledDag) {
    this.#connection = connection;
    this.#dag = dag;
    this.#pipelines = new Set(dag.nodes.flatMap((node) => node.kind === "Pipeline" ? [node.name] : []));
  }

  async all(): Promise<Outcome<{ readonly checked: number }>> {
    let checked = 0;
    const skipped = new Map<string, number>();
    for (const node of this.#dag.nodes) {
      if (node.kind === "SourceLoad") await this.#source(node);
      if (node.kind !== "Pipeline") continue;
      const missing = this.#missing(node);
      if (missing === undefined) {
        checked++;
        await this.#pipeline(node);
        continue;
      }
      this.#absent.set(node.id, missing);
      for (const source of missing) skipped.set(source, (skipped.get(source) ?? 0) + 1);
    }
    for (const [source, count] of [...skipped].sort(([a], [b]) => ordinal(a, b))) {
      const pipelines = `${count} pipeline${count === 1 ? "" : "s"} not dry-compiled`;
      this.#notices.push(`dataset '${source}' has no columns: contract — ${pipelines}`);
    }
    return this.#errors.length > 0 ? fail(this.#errors) : succeed({ checked }, [], this.#notices);
  }

  /** The reasons why something that a pipeline reads is not there; undefined when all is. */
  #missing(node: PipelineNode): Absence | undefined {
    const absences = node.dependsOn.map((id) => this.#absent.get(id)).filter((absence) => absence !== undefined);
    return absences.length === 0 ? undefined : new Set(absences.flatMap((absence) => [...absence]));
  }

  async #source(node: SourceLoadNode): Promise<void> {
    const name = `${node.connection.name}.${node.entity}`;
    if (node.columns === undefined || node.columns.length === 0) {
      this.#absent.set(node.id, new Set([name]));
      return;
    }
    const { columns, unknown } = await contractColumns(this.#connection, node.columns);
    for (const { name: column, type } of unknown) {
      const meant = nearMiss(type, CONTRACT_TYPES);
      this.#errors.push(
        new PzError("PZ0101", `column '${column}' of '${name}' has the unknown type '${type}'`, {
          ...node.position,
          hint: meant === undefined
            ? `types are ${CONTRACT_TYPES.join(", ")}, or a DuckDB type`
            : `did you mean '${meant}'?`,
        }),
      );
    }
    if (unknown.length > 0) {
      this.#absent.set(node.id, BROKEN);
      return;
    }
    const list = columns.map((column) => `${ident(column.name)} ${column.type}`);
    await this.#connection.run(`CREATE TABLE ${qualified("staging", node.relation)} (${list.join(", ")})`);
  }

  async #pipeline(node: PipelineNode): Promise<void> {
    let before = "";
    try {
      const statements = await this.#connection.statementCount(node.sql);
      const single = statements === 1 || (statements > 1 && await isOneQuery(this.#connection, node.sql));
      before = `CREATE TABLE ${qualified("staging", node.relation)} AS (\n`;
      if (single) await this.#connection.run(`${before}${node.sql}\n) WITH NO DATA`);
      else this.#errors.push(countError(node, statements));
      // The columns of a PIVOT over all values of a column are known only with the data.
      if (statements !== 1) this.#absent.set(node.id, BROKEN);
    } catch (error) {
      if (!(error instanceof DuckDbError)) throw error;
      this.#absent.set(node.id, BROKEN);
      if (error.kind === "Permission") {
        this.#notices.push(`pipeline '${node.name}' opens files by itself and is not dry-compiled`);
      } else this.#errors.push(sqlError(node, error, before, this.#pipelines));
    }
  }
}

function countError(node: PipelineNode, statements: number): PzError {
  const message = statements === 0 ? "holds no query" : `holds ${statements} statements`;
  return new PzError("PZ0401", `pipeline '${node.name}' ${message}`, {
    ...node.map.positionAt(0),
    hint: "a pipeline is exactly one SELECT",
  });
}
