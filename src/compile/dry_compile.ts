import {
  type AllowedPaths,
  type DuckDbConnection,
  DuckDbError,
  ident,
  literal,
  openDuckDb,
  qualified,
} from "../duckdb/mod.ts";
import { fail, type Outcome, PzError, succeed } from "../errors/mod.ts";
import { nearMiss, ordinal } from "../util/mod.ts";
import { contractColumns } from "./contract_columns.ts";
import { CONTRACT_TYPES } from "./contract_types.ts";
import type { CheckNode, CompiledDag, PipelineNode, SourceLoadNode } from "./dag.ts";
import { checkProblems } from "./dry_check.ts";
import { sqlError } from "./sql_error.ts";
import { isOneQuery, WRAP_START, wrapQuery } from "./statements.ts";

export type DryCompileOptions = {
  /** How DuckDB reads a source without a contract, so that it may look for the columns; undefined: it may not. */
  readonly scanOf?: (node: SourceLoadNode) => SourceScan | undefined;
  /** What these reads may open. */
  readonly allowedPaths?: AllowedPaths;
};

/** What stands after FROM, and statements that must run once before. */
export type SourceScan = { readonly fragment: string; readonly setup: readonly string[] };

/**
 * Phase 3: plans every pipeline's SQL in a throwaway in-memory DuckDB against empty tables made from the contracts.
 * Errors (PZ0401) point into the templates; the notices name the pipelines that were left out and why.
 */
export async function dryCompile(
  dag: CompiledDag,
  options: DryCompileOptions = {},
): Promise<Outcome<{ readonly checked: number }>> {
  await using database = await openDuckDb({ allowedPaths: options.allowedPaths ?? { files: [], folders: [] } });
  using connection = await database.connect();
  await connection.run("CREATE SCHEMA staging");
  return await new DryRun(connection, dag, options).all();
}

/** Why a relation is not in the catalog: the sources without a contract behind it, if that is why. */
type Absence = ReadonlySet<string>;

const BROKEN: Absence = new Set();

/** One pass over a DAG in its order; relations appear in the catalog as soon as their columns are known. */
class DryRun {
  readonly #connection: DuckDbConnection;
  readonly #dag: CompiledDag;
  readonly #scanOf: DryCompileOptions["scanOf"];
  readonly #errors: PzError[] = [];
  readonly #notices: string[] = [];
  /** By node id. */
  readonly #absent = new Map<string, Absence>();

  constructor(connection: DuckDbConnection, dag: CompiledDag, options: DryCompileOptions) {
    this.#connection = connection;
    this.#dag = dag;
    this.#scanOf = options.scanOf;
  }

  async all(): Promise<Outcome<{ readonly checked: number }>> {
    let checked = 0;
    const skipped = new Map<string, number>();
    for (const node of this.#dag.nodes) {
      if (node.kind === "SourceLoad") await this.#source(node);
      if (node.kind === "Check") this.#errors.push(...await this.#check(node));
      if (node.kind !== "Pipeline") continue;
      const missing = this.#missing(node);
      if (missing === undefined) {
        checked++;
        await this.#pipeline(node);
        continue;
      }
      this.#absent.set(node.id, missing);
      await this.#syntax(node);
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
      if (await this.#foundColumns(node)) {
        this.#notices.push(
          `dataset '${name}' has no columns: contract — its columns are those that DuckDB finds there now`,
        );
      } else this.#absent.set(node.id, new Set([name]));
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

  /** Makes the relation of a source without a contract with the columns that DuckDB finds, where it may look. */
  async #foundColumns(node: SourceLoadNode): Promise<boolean> {
    const scan = this.#scanOf?.(node);
    if (scan === undefined) return false;
    try {
      for (const statement of scan.setup) await this.#connection.run(statement);
      const relation = qualified("staging", node.relation);
      await this.#connection.run(`CREATE TABLE ${relation} AS (\nSELECT * FROM ${scan.fragment}\n) WITH NO DATA`);
      return true;
    } catch (error) {
      if (error instanceof DuckDbError) return false;
      throw error;
    }
  }

  async #pipeline(node: PipelineNode): Promise<void> {
    let first: PzError | undefined;
    for (const sql of standIns(node)) {
      const error = await this.#attempt(node, sql);
      if (error === undefined) return;
      first ??= error;
    }
    this.#absent.set(node.id, BROKEN);
    if (first !== undefined && !this.#errors.some((error) => samePlace(error, first))) this.#errors.push(first);
  }

  /** Reports what can be seen without any column: whether a pipeline's SQL is one query that DuckDB understands. */
  async #syntax(node: PipelineNode): Promise<void> {
    const { sql } = node;
    let before = "";
    try {
      const statements = await this.#connection.statementCount(sql);
      if (statements === 0) {
        this.#errors.push(countError(node, statements));
        return;
      }
      before = WRAP_START;
      if (statements === 1) await this.#connection.statementCount(wrapQuery(sql));
      else if (!await isOneQuery(this.#connection, sql)) this.#errors.push(countError(node, statements));
    } catch (error) {
      if (!(error instanceof DuckDbError)) throw error;
      const problem = sqlError({ node, sql, before }, error, this.#dag);
      if (!this.#errors.some((other) => samePlace(other, problem))) this.#errors.push(problem);
    }
  }

  /** What is wrong with a check, as far as its pipeline's columns are known. */
  async #check(node: CheckNode): Promise<readonly PzError[]> {
    let columns: readonly string[] | undefined;
    if (node.dependsOn.every((id) => !this.#absent.has(id))) {
      const described = await this.#connection.prepare(`SELECT * FROM ${qualified("staging", node.relation)}`);
      columns = described.columns.map(({ name }) => name);
    }
    return await checkProblems(this.#connection, node, columns);
  }

  /** Makes a pipeline's relation from one form of its SQL, or says what is wrong with that. */
  async #attempt(node: PipelineNode, sql: string): Promise<PzError | undefined> {
    let before = "";
    try {
      const statements = await this.#connection.statementCount(sql);
      const single = statements === 1 || (statements > 1 && await isOneQuery(this.#connection, sql));
      if (!single) return countError(node, statements);
      before = `CREATE TABLE ${qualified("staging", node.relation)} AS (\n`;
      await this.#connection.run(`${before}${sql}\n) WITH NO DATA`);
      // The columns of a PIVOT over all values of a column are known only with the data.
      if (statements !== 1) this.#absent.set(node.id, BROKEN);
      return undefined;
    } catch (error) {
      if (!(error instanceof DuckDbError)) throw error;
      if (error.kind !== "Permission") return sqlError({ node, sql, before }, error, this.#dag);
      this.#absent.set(node.id, BROKEN);
      this.#notices.push(`pipeline '${node.name}' opens files by itself and is not dry-compiled`);
      return undefined;
    }
  }
}

/** Whether two errors stand at one place, as those of an ephemeral do that several pipelines inline. */
function samePlace(a: PzError, b: PzError): boolean {
  return a.file === b.file && a.line === b.line && a.column === b.column;
}

/** What may stand for a watermark whose type is not known yet; each is shorter than any sentinel. */
const UNKNOWN_VALUES = ["NULL", "(NULL::TIMESTAMP)", "(NULL::DATE)", "(NULL::BIGINT)"];

/** The SQL itself, or forms of the same length with an unknown value in place of each watermark. */
function standIns({ sql, watermarks }: PipelineNode): readonly string[] {
  if (watermarks.length === 0) return [sql];
  return UNKNOWN_VALUES.map((value) =>
    watermarks.reduce((text, { sentinel }) => {
      const stand = literal(sentinel);
      return text.replaceAll(stand, value.padEnd(stand.length));
    }, sql)
  );
}

function countError(node: PipelineNode, statements: number): PzError {
  const message = statements === 0 ? "holds no query" : `holds ${statements} statements`;
  return new PzError("PZ0401", `pipeline '${node.name}' ${message}`, {
    ...node.map.positionAt(0),
    hint: "a pipeline is exactly one SELECT",
  });
}
