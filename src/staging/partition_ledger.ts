import { type DuckDbConnection, DuckDbError, ident, literal, qualified } from "../duckdb/mod.ts";
import { partTable, partTablesOf } from "./part_tables.ts";
import { transaction } from "./transaction.ts";

/** A column of a table to make. */
export type TableColumn = { readonly name: string; readonly type: string };

/** Between which bounds a load reads. */
export type LoadWindow = { readonly lower: string; readonly upper: string };

/** How far a partition has come: a later read may go on from `token` after the rows that its own table has. */
export type PartitionCheckpoint = { readonly token: string; readonly rows: number };

/** What a load is begun with; one that was begun with something else is begun anew. */
export type LoadShape = { readonly columns: readonly TableColumn[]; readonly window?: LoadWindow | undefined };

/**
 * The account of a load that is read in partitions: which of them are in its table, and how far others have come. What
 * is written here is written in the transaction of the rows that it speaks of, so that the two never disagree. Methods
 * that say so belong into a transaction of the caller's.
 */
export class PartitionLedger {
  readonly #node: string;
  readonly #relation: string;
  #done: ReadonlyMap<string, number> = new Map();
  #planned: readonly string[] = [];
  #checkpoints: ReadonlyMap<string, PartitionCheckpoint> = new Map();
  #total: number | undefined;

  /** @param relation the table of schema `staging` that the load fills */
  constructor(nodeId: string, relation: string) {
    this.#node = nodeId;
    this.#relation = relation;
  }

  /** The partitions that are done, as of the last look, with their rows. */
  get done(): ReadonlyMap<string, number> {
    return this.#done;
  }

  /** The ids of the plan that the load was begun with, in its order; empty where it is not kept. */
  get planned(): readonly string[] {
    return this.#planned;
  }

  /** Whether, as of the last look, every partition is done. */
  get isComplete(): boolean {
    return this.#total !== undefined && this.#total === this.#done.size;
  }

  /** How far a partition had come that is not done, as of the last look. */
  checkpoint(id: string): PartitionCheckpoint | undefined {
    return this.#checkpoints.get(id);
  }

  /**
   * Reads what is there, drops what no account speaks of, and forgets all where account and table disagree. Nothing else
   * may load the same node meanwhile.
   */
  async look(connection: DuckDbConnection): Promise<void> {
    const isBegun = await this.#read(connection);
    const rows = sum(this.#done.values());
    if (!isBegun || rows !== await this.#countMain(connection)) await this.reset(connection);
    else await this.#dropLeftovers(connection);
  }

  /**
   * Begins the load, or goes on with one that was begun alike: then the table and its account stay. Otherwise the table
   * is made anew, empty. To be called after `look`.
   */
  async begin(connection: DuckDbConnection, { columns, window }: LoadShape): Promise<void> {
    const definition = columns.map(({ name, type }) => `${ident(name)} ${type}`).join(", ");
    const [begun] = await connection.rows(
      `SELECT columns, lower, upper FROM pz_meta.node_loads LEFT JOIN pz_meta.node_window USING (node_id) ` +
        `WHERE node_id = ${literal(this.#node)}`,
    );
    const same = [definition, window?.lower ?? null, window?.upper ?? null];
    if (begun !== undefined && same.every((value, index) => value === begun[index])) return;
    await this.reset(connection);
    const node = literal(this.#node);
    await transaction(connection, async () => {
      await connection.run(
        `CREATE TABLE ${this.#main} (${definition});` +
          `INSERT INTO pz_meta.node_loads VALUES (${node}, ${literal(definition)}, NULL)` +
          (window === undefined
            ? ""
            : `;INSERT INTO pz_meta.node_window VALUES (${node}, ${literal(window.lower)}, ${literal(window.upper)})`),
      );
    });
  }

  /**
   * Keeps the plan that the load is read by. Where a partition is done that this plan does not have, all is forgotten
   * but the plan.
   */
  async plan(connection: DuckDbConnection, ids: readonly string[]): Promise<void> {
    const known = new Set(ids);
    const node = literal(this.#node);
    const isDivided = ids.length === this.#planned.length && ids.every((id, index) => id === this.#planned[index]);
    if (isDivided && this.#total === ids.length) return;
    const isSame = [...this.#done.keys(), ...this.#checkpoints.keys()].every((id) => known.has(id));
    await transaction(connection, async () => {
      if (!isSame) await this.#forgetRows(connection);
      await connection.run(
        `DELETE FROM pz_meta.partitions_planned WHERE node_id = ${node};` +
          `UPDATE pz_meta.node_loads SET partitions = ${ids.length} WHERE node_id = ${node}`,
      );
      for (let from = 0; from < ids.length; from += INSERT_ROWS) {
        const rows = ids.slice(from, from + INSERT_ROWS).map((id, index) => `(${node}, ${from + index}, ${text(id)})`);
        await account(connection, [`INSERT INTO pz_meta.partitions_planned VALUES ${rows.join(", ")}`]);
      }
    });
    await this.#read(connection);
  }

  /** Says how many partitions there are where none of them was planned ahead. */
  async total(connection: DuckDbConnection, partitions: number): Promise<void> {
    await connection.run(
      `UPDATE pz_meta.node_loads SET partitions = ${partitions} WHERE node_id = ${literal(this.#node)}`,
    );
  }

  /** Within the transaction that has put the rows of a partition into the main table: the partition is done. */
  async complete(connection: DuckDbConnection, id: string, rows: number): Promise<void> {
    const node = literal(this.#node);
    const which = `WHERE node_id = ${node} AND partition_id = ${text(id)}`;
    await account(connection, [
      `DELETE FROM pz_meta.partition_checkpoints ${which}`,
      `DELETE FROM pz_meta.partitions_done ${which}`,
      `INSERT INTO pz_meta.partitions_done VALUES (${node}, ${text(id)}, ${rows})`,
    ]);
  }

  /** Within a transaction: moves what a partition's own table has into the main table, and drops it. */
  async movePart(connection: DuckDbConnection, id: string): Promise<void> {
    const part = qualified("staging", this.partTable(id));
    await connection.run(`INSERT INTO ${this.#main} SELECT * FROM ${part};DROP TABLE ${part}`);
  }

  /** Within a transaction that adds to a partition's own table: all of its rows, so many, are before `token`. */
  async saveCheckpoint(connection: DuckDbConnection, id: string, { token, rows }: PartitionCheckpoint): Promise<void> {
    const values = [literal(this.#node), text(id), text(token), rows].join(", ");
    await account(connection, [
      this.#forgetCheckpoint(id),
      `INSERT INTO pz_meta.partition_checkpoints VALUES (${values})`,
    ]);
  }

  /** Makes a partition's own table, empty, in place of what is there. */
  async startPart(connection: DuckDbConnection, id: string): Promise<void> {
    const part = qualified("staging", this.partTable(id));
    await transaction(connection, async () => {
      await account(connection, [this.#forgetCheckpoint(id)]);
      await connection.run(
        `DROP TABLE IF EXISTS ${part};CREATE TABLE ${part} AS SELECT * FROM ${this.#main} WITH NO DATA`,
      );
    });
  }

  /** The name of a partition's own table, in which no id can be read. */
  partTable(id: string): string {
    return partTable(this.#node, id);
  }

  /** Forgets all of the load: its table, its partitions and its account. */
  async reset(connection: DuckDbConnection): Promise<void> {
    const node = literal(this.#node);
    const parts = await partTablesOf(connection, this.#node);
    await transaction(connection, async () => {
      const tables = [this.#relation, ...parts].map((name) => `DROP TABLE IF EXISTS ${qualified("staging", name)}`);
      const accounts = ACCOUNTS.map((name) => `DELETE FROM pz_meta.${name} WHERE node_id = ${node}`);
      await connection.run([...tables, ...accounts].join(";"));
    });
    this.#done = new Map();
    this.#planned = [];
    this.#checkpoints = new Map();
    this.#total = undefined;
  }

  /** Drops the tables of partitions that are done or that no checkpoint speaks of. */
  async #dropLeftovers(connection: DuckDbConnection): Promise<void> {
    const leftovers = new Set(await partTablesOf(connection, this.#node));
    const whole = new Set<string>();
    for (const [id, { rows }] of this.#checkpoints) {
      const name = this.partTable(id);
      const isWhole = leftovers.has(name) && !this.#done.has(id) &&
        await connection.integer(`SELECT count(*) FROM ${qualified("staging", name)}`) === BigInt(rows);
      if (isWhole && leftovers.delete(name)) whole.add(id);
      else await account(connection, [this.#forgetCheckpoint(id)]);
    }
    for (const name of leftovers) await connection.run(`DROP TABLE ${qualified("staging", name)}`);
    const kept = [...this.#checkpoints].filter(([id]) => whole.has(id));
    this.#checkpoints = new Map(kept);
  }

  async #forgetRows(connection: DuckDbConnection): Promise<void> {
    const node = literal(this.#node);
    const parts = (await partTablesOf(connection, this.#node)).map((name) =>
      `DROP TABLE ${qualified("staging", name)}`
    );
    const accounts = ["partitions_done", "partition_checkpoints"].map((name) =>
      `DELETE FROM pz_meta.${name} WHERE node_id = ${node}`
    );
    await connection.run([`TRUNCATE ${this.#main}`, ...parts, ...accounts].join(";"));
  }

  #forgetCheckpoint(id: string): string {
    return `DELETE FROM pz_meta.partition_checkpoints WHERE node_id = ${literal(this.#node)} ` +
      `AND partition_id = ${text(id)}`;
  }

  /** Whether the load has begun. */
  async #read(connection: DuckDbConnection): Promise<boolean> {
    const of = (columns: string, table: string, order = "") =>
      connection.rows(`SELECT ${columns} FROM pz_meta.${table} WHERE node_id = ${literal(this.#node)}${order}`);
    const [load] = await of("partitions", "node_loads");
    const done = await of("partition_id, rows", "partitions_done");
    const planned = await of("partition_id", "partitions_planned", " ORDER BY ordinal");
    const checkpoints = await of("partition_id, checkpoint, rows", "partition_checkpoints");
    const total = load?.[0];
    this.#total = total === undefined || total === null ? undefined : Number(total);
    this.#done = new Map(done.map(([id, rows]) => [id ?? "", Number(rows)]));
    this.#planned = planned.map(([id]) => id ?? "");
    this.#checkpoints = new Map(
      checkpoints.map(([id, token, rows]) => [id ?? "", { token: token ?? "", rows: Number(rows) }]),
    );
    return load !== undefined;
  }

  /** How many rows the main table has; undefined: it is not there. */
  async #countMain(connection: DuckDbConnection): Promise<number | undefined> {
    try {
      return Number(await connection.integer(`SELECT count(*) FROM ${this.#main}`));
    } catch {
      return undefined;
    }
  }

  get #main(): string {
    return qualified("staging", this.#relation);
  }
}

const ACCOUNTS = ["node_loads", "partitions_planned", "partitions_done", "partition_checkpoints", "node_window"];
const INSERT_ROWS = 500;

/** Runs statements whose failure must not tell the ids and tokens that stand in them. */
async function account(connection: DuckDbConnection, statements: readonly string[]): Promise<void> {
  try {
    await connection.run(statements.join(";"));
  } catch (error) {
    if (!(error instanceof DuckDbError) || error.kind !== "Constraint") throw error;
    throw new DuckDbError("The account of a load already has what is added to it", error.kind);
  }
}

/** A text as SQL, with any NUL that it holds. */
function text(value: string): string {
  return `(${value.split("\0").map(literal).join(" || chr(0) || ")})`;
}

function sum(numbers: Iterable<number>): number {
  let total = 0;
  for (const number of numbers) total += number;
  return total;
}
