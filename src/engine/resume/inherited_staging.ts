import type { SourceLoadNode } from "../../compile/mod.ts";
import { type DuckDbConnection, type DuckDbDatabase, literal, openDuckDb, qualified } from "../../duckdb/mod.ts";
import { type Fingerprint, fingerprint, FORMAT_VERSION, partTablesOf } from "../../staging/mod.ts";
import type { RunPaths } from "../../state/mod.ts";
import { isDiskFull } from "../failure.ts";

/** Either the staging of an earlier run, copied into the folder of a new one, or why there is none. */
export type Inheritance = { readonly staging: InheritedStaging } | { readonly why: string };

type Places = { readonly from: RunPaths; readonly to: RunPaths };

/**
 * Copies an earlier run's staging database into the folder of a new run, with its log, and opens the copy. The system
 * copies without reading where its file system can. Nothing is left of a copy that is of no use. The caller holds the
 * earlier run's lock.
 */
export async function inheritStaging({ from, to }: Places): Promise<Inheritance> {
  try {
    await Deno.copyFile(from.staging, to.staging);
    await copyIfThere(`${from.staging}.wal`, `${to.staging}.wal`);
  } catch (error) {
    discard(to.staging);
    if (error instanceof Deno.errors.NotFound) return { why: "it has been deleted" };
    return { why: error instanceof Error ? error.message : String(error) };
  }
  try {
    return await open(to);
  } catch (error) {
    discard(to.staging);
    const message = error instanceof Error ? error.message.split("\n")[0] ?? "" : String(error);
    if (isDiskFull(error)) return { why: `it can't be copied: ${message}` };
    // What is wrong with the copy, which is gone, is wrong with the file that people can look at.
    return { why: `it can't be read: ${message.replaceAll(to.staging, from.staging)}` };
  }
}

async function open({ staging: file, spill }: RunPaths): Promise<Inheritance> {
  const database = await openDuckDb({ file, tempDirectory: spill, allowedPaths: { files: [], folders: [] } });
  try {
    const connection = await database.connect();
    const version = await connection.integer("SELECT coalesce(max(version), 0) FROM pz_meta.format");
    if (version === BigInt(FORMAT_VERSION)) {
      return { staging: new InheritedStaging(database, connection, await relationsOf(connection), file) };
    }
    await database[Symbol.asyncDispose]();
    discard(file);
    return { why: `it has format ${version}, and this pz reads format ${FORMAT_VERSION}` };
  } catch (error) {
    await database[Symbol.asyncDispose]();
    throw error;
  }
}

/** Names of the relations of schema `staging`, with what each is. */
type Relations = ReadonlyMap<string, "TABLE" | "VIEW">;

/** What to keep of an inherited staging database. */
export type Keep = {
  /** Loads that are complete. */
  readonly loads: readonly SourceLoadNode[];
  /** Loads that go on where they stopped. */
  readonly unfinished: readonly SourceLoadNode[];
  /** Ids of the outputs that will be written. */
  readonly outputs: readonly string[];
};

/** A copy of an earlier run's staging database. Closing it writes its log into the file. */
export class InheritedStaging implements AsyncDisposable {
  readonly #database: DuckDbDatabase;
  readonly #connection: DuckDbConnection;
  readonly #relations: Relations;
  readonly #file: string;

  /** Takes what `inheritStaging` has opened. */
  constructor(database: DuckDbDatabase, connection: DuckDbConnection, relations: Relations, file: string) {
    this.#database = database;
    this.#connection = connection;
    this.#relations = relations;
    this.#file = file;
  }

  /** Why a load whose rows were recorded can't be taken over; undefined: it can. */
  async obstacle(node: SourceLoadNode, rows: number): Promise<string | undefined> {
    const { relation } = node;
    if (this.#relations.get(relation) !== "TABLE") return "its rows were not staged";
    if (await this.#isUnfinished(node)) return "its rows were staged only in part";
    const found = await this.#connection.integer(`SELECT count(*) FROM ${qualified("staging", relation)}`);
    return found === BigInt(rows) ? undefined : `${found} of its ${rows} rows are staged`;
  }

  /** Whether the account of a load that is read in partitions knows of some that are missing. */
  async #isUnfinished({ id }: SourceLoadNode): Promise<boolean> {
    const ledgers = await this.#ledgers();
    if (!ledgers.includes("node_loads") || !ledgers.includes("partitions_done")) return false;
    const done = `SELECT count(*) FROM pz_meta.partitions_done WHERE node_id = ${literal(id)}`;
    const missing = await this.#connection.integer(
      `SELECT count(*) FROM pz_meta.node_loads WHERE node_id = ${
        literal(id)
      } AND partitions IS DISTINCT FROM (${done})`,
    );
    return missing > 0n;
  }

  /** How many partitions of a load that did not end are staged or begun. */
  async progress({ id }: SourceLoadNode): Promise<number> {
    let known = 0n;
    for (const ledger of await this.#ledgers()) {
      if (ledger !== "partitions_done" && ledger !== "partition_checkpoints") continue;
      const name = qualified("pz_meta", ledger);
      known += await this.#connection.integer(`SELECT count(*) FROM ${name} WHERE node_id = ${literal(id)}`);
    }
    return Number(known);
  }

  /** The fingerprint of a relation; undefined where there is none, or it can't be read any more. */
  async fingerprint(relation: string): Promise<Fingerprint | undefined> {
    if (!this.#relations.has(relation)) return undefined;
    try {
      return await fingerprint(this.#connection, relation);
    } catch {
      return undefined;
    }
  }

  /** Drops all that the new run makes itself, and the progress of loads and outputs that do not go on. */
  async prune({ loads, unfinished, outputs }: Keep): Promise<void> {
    const kept = new Set([...loads, ...unfinished].map(({ relation }) => relation));
    for (const { id } of unfinished) for (const part of await partTablesOf(this.#connection, id)) kept.add(part);
    for (const kind of ["VIEW", "TABLE"]) {
      for (const [name, is] of this.#relations) {
        if (is !== kind || kept.has(name)) continue;
        await this.#connection.run(`DROP ${kind} IF EXISTS ${qualified("staging", name)}`);
      }
    }
    const ids = [...[...loads, ...unfinished].map(({ id }) => id), ...outputs].map(literal);
    const others = ids.length === 0 ? "" : ` WHERE node_id NOT IN (${ids.join(", ")})`;
    for (const ledger of await this.#ledgers()) {
      await this.#connection.run(`DELETE FROM ${qualified("pz_meta", ledger)}${others}`);
    }
  }

  /** The tables of `pz_meta` that account for nodes. */
  async #ledgers(): Promise<readonly string[]> {
    const found = await this.#connection.rows(
      "SELECT table_name FROM duckdb_columns() WHERE database_name = 'pz' AND schema_name = 'pz_meta' " +
        "AND column_name = 'node_id' ORDER BY table_name",
    );
    return found.map(([name]) => name ?? "");
  }

  /** Closes the copy and deletes it. */
  async discard(): Promise<void> {
    await this[Symbol.asyncDispose]();
    discard(this.#file);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#database[Symbol.asyncDispose]();
  }
}

async function relationsOf(connection: DuckDbConnection): Promise<Relations> {
  const found = await connection.rows(
    "SELECT table_name, 'TABLE' FROM duckdb_tables() WHERE database_name = 'pz' AND schema_name = 'staging' " +
      "UNION ALL SELECT view_name, 'VIEW' FROM duckdb_views() WHERE database_name = 'pz' AND schema_name = 'staging'",
  );
  return new Map(found.map(([name, kind]) => [name ?? "", kind === "VIEW" ? "VIEW" : "TABLE"]));
}

async function copyIfThere(from: string, to: string): Promise<void> {
  try {
    await Deno.copyFile(from, to);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}

function discard(file: string): void {
  for (const path of [file, `${file}.wal`]) {
    try {
      Deno.removeSync(path);
    } catch { /* it is not there, and nothing is lost */ }
  }
}
