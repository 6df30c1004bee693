import type { DuckDbConnection } from "../duckdb/mod.ts";

/** Grows by one with every change to the tables of `pz_meta` that an older pz could not read. */
export const FORMAT_VERSION = 2;

/** Thrown for a staging database that a newer pz has made. */
export class StagingFormatError extends Error {
  override readonly name = "StagingFormatError";
  readonly version: bigint;

  constructor(version: bigint) {
    super(`The staging database has format ${version}, and this pz knows formats up to ${FORMAT_VERSION}`);
    this.version = version;
  }
}

/**
 * What is written in the transaction of the data that it accounts for. Only here do ids of partitions and tokens of
 * checkpoints stand.
 */
const TABLES = [
  // The columns that a load was begun with, and how many partitions it has, once that is known.
  "node_loads (node_id VARCHAR NOT NULL, columns VARCHAR NOT NULL, partitions BIGINT, PRIMARY KEY (node_id))",
  // The partitions as they were planned, so that a later attempt divides alike.
  "partitions_planned (node_id VARCHAR NOT NULL, ordinal BIGINT NOT NULL, partition_id VARCHAR NOT NULL, " +
  "PRIMARY KEY (node_id, ordinal))",
  // Partitions whose rows are all in the table of their node.
  "partitions_done (node_id VARCHAR NOT NULL, partition_id VARCHAR NOT NULL, rows BIGINT NOT NULL, " +
  "PRIMARY KEY (node_id, partition_id))",
  // How far a partition has come whose first rows are in a table of its own.
  "partition_checkpoints (node_id VARCHAR NOT NULL, partition_id VARCHAR NOT NULL, checkpoint VARCHAR NOT NULL, " +
  "rows BIGINT NOT NULL, PRIMARY KEY (node_id, partition_id))",
  // Between which bounds a node has read.
  "node_window (node_id VARCHAR NOT NULL, lower VARCHAR NOT NULL, upper VARCHAR NOT NULL, PRIMARY KEY (node_id))",
  // How many rows of which relation a destination has confirmed.
  "sink_deliveries (node_id VARCHAR NOT NULL, acknowledged_rows BIGINT NOT NULL, relation_count BIGINT NOT NULL, " +
  "relation_hash VARCHAR NOT NULL, PRIMARY KEY (node_id))",
];

/**
 * Statements that make the tables of `pz_meta` where they are missing: to be set up before the first ledger is used. Runs
 * without one do without them, since every table takes room and time.
 */
export const LEDGER_SETUP: readonly string[] = [
  ["BEGIN", ...TABLES.map((table) => `CREATE TABLE IF NOT EXISTS pz_meta.${table}`), "COMMIT"].join(";"),
];

/**
 * Makes the schemas of a staging database, and notes its format.
 *
 * @throws {StagingFormatError}
 */
export async function ensureMeta(connection: DuckDbConnection): Promise<void> {
  await connection.run("CREATE SCHEMA IF NOT EXISTS staging");
  await connection.run("CREATE SCHEMA IF NOT EXISTS pz_meta");
  await connection.run("CREATE TABLE IF NOT EXISTS pz_meta.format (version INTEGER NOT NULL)");
  const version = await connection.integer("SELECT coalesce(max(version), 0) FROM pz_meta.format");
  if (version > FORMAT_VERSION) throw new StagingFormatError(version);
  if (version === BigInt(FORMAT_VERSION)) return;
  await connection.run(
    `BEGIN;DELETE FROM pz_meta.format;INSERT INTO pz_meta.format VALUES (${FORMAT_VERSION});COMMIT`,
  );
}
