import { type AllowedPaths, type DuckDbConnection, DuckDbError, ident, literal, qualified } from "../duckdb/mod.ts";
import { fail, type Outcome, PzError, succeed } from "../errors/mod.ts";
import { nearMiss, ordinal } from "../util/mod.ts";
import { ContractTypes } from "./contract_columns.ts";
import { CONTRACT_TYPES } from "./contract_types.ts";
import type { CheckNode, CompiledDag, DagNode, PipelineNode, SourceLoadNode } from "./dag.ts";
import { checkProblems } from "./dry_check.ts";
import { namesColumns, sinkProblems } from "./dry_sink.ts";
import { ownValue } from "./entities.ts";
import { renamedColumns } from "./renamed_columns.ts";
import { sqlError } from "./sql_error.ts";
import { isOneQuery, WRAP_START, wrapQuery } from "./statements.ts";
import { Workbench } from "./workbench.ts";

export type DryCompileOptions = {
  /** How DuckDB reads a source without a contract, so that it may look for the columns; undefined: it may not. */
  readonly scanOf?: (node: SourceLoadNode) => SourceScan | undefined;
  /** What these reads may open. */
  readonly allowedPaths?: AllowedPaths;
  /** Where SQL is planned when nothing may be opened; undefined: in one of its own. */
  readonly workbench?: Workbench;
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
  const { allowedPaths } = options;
  const opens = (allowedPaths?.files.length ?? 0) + (allowedPaths?.folders.length ?? 0) > 0;
  await using own = new Workbench(allowedPaths);
  const connection = await (opens ? own : options.workbench ?? own).connection();
  await connection.run("CREATE SCHEMA staging");
  return await new DryRun(connection, dag, options).all();
}

/** Why a relation is not in the catalog: the sources without a contract behind it, if that is why. */
type Absence = ReadonlySet<string>;

const BROKEN: Absence = new Set();

/** One pass over a DAG in its order; relations appear in the catalog as soon as their columns are known. */
class DryRun {
  readonly #connection: DuckDbConnection;
  readonly #types: ContractTypes;
  readonly #dag: CompiledDag;
  readonly #scanOf: DryCompileOptions["scanOf"];
  readonly #errors: PzError[] = [];
  readonly #notices: string[] = [];
  /** By node id. */
  readonly #absent = new Map<string, Absence>();
  /** The columns of relations that checks ask for. */
  readonly #columns = new Map<string, readonly string[]>();
  /** How many pipelines wait for each source's contract. */
  readonly #skipped = new Map<string, number>();
  #checked = 0;

  constructor(connection: DuckDbConnection, dag: CompiledDag, options: DryCompileOptions) {
    this.#connection = connection;
    this.#types = new ContractTypes(connection);
    this.#dag = dag;
    this.#scanOf = options.scanOf;
  }

  async all(): Promise<Outcome<{ readonly checked: number }>> {
    let batch: PipelineNode[] = [];
    for (const node of this.#dag.nodes) {
      if (node.kind === "SinkWrite") continue;
      const simple = node.kind === "Pipeline" && isSimple(node) && this.#missing(node) === undefined;
      if (simple) batch.push(node);
      if (simple && batch.length < MAX_BATCH) continue;
      await this.#pipelines(batch);
      batch = [];
      if (!simple) await this.#single(node);
    }
    await this.#pipelines(batch);
    for (const node of this.#dag.nodes) {
      if (node.kind !== "SinkWrite" || !namesColumns(node) || node.dependsOn.some((id) => this.#absent.has(id))) {
        continue;
      }
      this.#errors.push(...sinkProblems(node, await this.#columnsOf(node.relation)));
    }
    for (const [source, count] of [...this.#skipped].sort(([a], [b]) => ordinal(a, b))) {
      const pipelines = `${count} pipeline${count === 1 ? "" : "s"} not dry-compiled`;
      this.#notices.push(`dataset '${source}' has no columns: contract — ${pipelines}`);
    }
    if (this.#errors.length > 0) return fail(this.#errors);
    const warnings = await renamedColumns(this.#connection, this.#dag.nodes.filter(({ id }) => !this.#absent.has(id)));
    return succeed({ checked: this.#checked }, warnings, this.#notices);
  }

  /** Makes the relations of simple pipelines at once, or of each by itself where that fails. */
  async #pipelines(batch: readonly PipelineNode[]): Promise<void> {
    if (batch.length === 0) return;
    try {
      // Without parentheses, out of which a text that is no query by itself could break.
      const statements = batch.map(({ relation, sql }) => `CREATE TABLE ${staged(relation)} AS\n${sql}\nWITH NO DATA`);
      await this.#connection.run(statements.join(";\n"));
      this.#checked += batch.length;
    } catch (error) {
      if (!(error instanceof DuckDbError)) throw error;
      for (const node of batch) await this.#single(node);
    }
  }

  async #single(node: DagNode): Promise<void> {
    if (node.kind === "SourceLoad") await this.#source(node);
    if (node.kind === "Check") this.#errors.push(...await this.#check(node));
    if (node.kind !== "Pipeline") return;
    const missing = this.#missing(node);
    if (missing === undefined) {
      this.#checked++;
      await this.#pipeline(node);
      return;
    }
    this.#absent.set(node.id, missing);
    await this.#syntax(node);
    for (const source of missing) this.#skipped.set(source, (this.#skipped.get(source) ?? 0) + 1);
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
          `dataset '${name}' has no columns: contract — its columns are those that are there now`,
        );
      } else this.#absent.set(node.id, new Set([name]));
      return;
    }
    const { columns, unknown } = await this.#types.columns(node.columns);
    const columnPlaces = ownValue(node.connection.entities, node.entity)?.places?.columns;
    for (const { name: column, type } of unknown) {
      const meant = nearMiss(type, CONTRACT_TYPES);
      this.#errors.push(
        new PzError("PZ0301", `column '${column}' of '${name}' has the unknown type '${type}'`, {
          ...(columnPlaces?.[column] ?? node.position),
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
    await this.#connection.run(`CREATE TABLE ${staged(node.relation)} (${list.join(", ")})`);
  }

  /** Makes the relation of a source without a contract with the columns that DuckDB finds, where it may look. */
  async #foundColumns(node: SourceLoadNode): Promise<boolean> {
    const scan = this.#scanOf?.(node);
    if (scan === undefined) return false;
    try {
      for (const statement of scan.setup) await this.#connection.run(statement);
      const table = `CREATE TABLE ${staged(node.relation)}`;
      await this.#connection.run(`${table} AS (\nSELECT * FROM ${scan.fragment}\n) WITH NO DATA`);
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
    const known = node.dependsOn.every((id) => !this.#absent.has(id));
    return await checkProblems(this.#connection, node, known ? await this.#columnsOf(node.relation) : undefined);
  }

  async #columnsOf(relation: string): Promise<readonly string[]> {
    const known = this.#columns.get(relation);
    if (known !== undefined) return known;
    const { columns } = await this.#connection.prepare(`SELECT * FROM ${staged(relation)}`);
    const names = columns.map(({ name }) => name);
    this.#columns.set(relation, names);
    return names;
  }

  /** Makes a pipeline's relation from one form of its SQL, or says what is wrong with that. */
  async #attempt(node: PipelineNode, sql: string): Promise<PzError | undefined> {
    let before = "";
    try {
      const statements = await this.#connection.statementCount(sql);
      const single = statements === 1 || (statements > 1 && await isOneQuery(this.#connection, sql));
      if (!single) return countError(node, statements);
      before = `CREATE OR REPLACE TABLE ${staged(node.relation)} AS (\n`;
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

/** Pipelines whose relations are made at once. */
const MAX_BATCH = 200;

/**
 * Whether a pipeline's SQL is one statement, if it is any: it has no `;`, and nothing of a PIVOT, which may be several.
 * Values that are not known yet are left to a closer look.
 */
function isSimple({ sql, watermarks }: PipelineNode): boolean {
  return watermarks.length === 0 && !/;|pivot/i.test(sql);
}

function staged(relation: string): string {
  return qualified("staging", relation);
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
