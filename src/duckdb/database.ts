import type { DuckDBConnection as NativeConnection, DuckDBInstance } from "@duckdb/node-api";
import { DuckDbConnection } from "./connection.ts";
import { DuckDbError, duckDbError } from "./error.ts";
import { runsOnLoopThread } from "./execute.ts";
import { Feeds } from "./feed.ts";
import { type DuckDbLibrary, loadDuckDb } from "./load.ts";
import { readDefaultLimits } from "./machine_limits.ts";
import { literal } from "./quote.ts";
import { Slots } from "./slots.ts";

/**
 * What SQL may touch beside the database's own file and its folder for spilling. A file may be a DuckDB database to
 * attach: what DuckDB keeps beside it is allowed with it.
 */
export type AllowedPaths = { readonly files: readonly string[]; readonly folders: readonly string[] };

export type OpenDuckDbOptions = {
  /** File to attach as catalog `pz` and use; undefined: in memory only. */
  readonly file?: string;
  readonly memoryLimitBytes?: number;
  readonly threads?: number;
  /** Folder for spilling. */
  readonly tempDirectory?: string;
  /** Files and folders that SQL may read and write beside `file`; undefined: no lock-down of paths. */
  readonly allowedPaths?: AllowedPaths;
  readonly preserveInsertionOrder?: boolean;
  /** Size of the blocks of a new `file`, a power of two from 16384; a file that is there keeps its own. */
  readonly blockBytes?: number;
  /** How many statements may run at once, over all connections; the others wait. Default 8. */
  readonly maxStatements?: number;
};

/** The catalog of an attached file; the file's own name would hide a schema of the same name. */
export const FILE_CATALOG = "pz";

/**
 * What a file may hold: all that this DuckDB knows, whose way with texts takes a third less CPU than the one that older
 * ones can read. A file that is there is raised to it.
 */
const STORAGE_VERSION = "v1.5.0";

/** Every running statement takes a thread of a pool of 32, on which reading files depends too. */
const MAX_STATEMENTS = 8;

/** What DuckDB keeps beside a database file. */
const BESIDE_DATABASE = ["", ".wal", ".wal.recovery", ".wal.checkpoint"];

/** One DuckDB instance: extension loading off, UTC, limits set, configuration locked. */
export class DuckDbDatabase implements AsyncDisposable {
  readonly #instance: DuckDBInstance;
  readonly #library: DuckDbLibrary;
  readonly #feeds: Feeds;
  /** Runs what belongs to the database and not to a caller. */
  readonly #own: NativeConnection;
  readonly #hasFile: boolean;
  readonly #slots: Slots;
  readonly #open = new Set<DuckDbConnection>();
  #closing: Promise<void> | undefined;

  /** Takes an instance that `openDuckDb` has set up. */
  constructor(instance: DuckDBInstance, library: DuckDbLibrary, own: NativeConnection, options: OpenDuckDbOptions) {
    this.#instance = instance;
    this.#library = library;
    this.#own = own;
    this.#hasFile = options.file !== undefined;
    this.#slots = new Slots(options.maxStatements ?? MAX_STATEMENTS);
    this.#feeds = new Feeds(library);
    // Before anything else: a transaction that has begun would not see the function.
    if (!runsOnLoopThread(Deno.version.deno)) this.#feeds.register(own);
  }

  /** A new connection that uses the catalog `pz`, if there is one. */
  async connect(): Promise<DuckDbConnection> {
    if (this.#closing !== undefined) throw new DuckDbError("The database is closed", "Connection");
    const native = await this.#instance.connect();
    if (this.#hasFile) {
      try {
        await native.run(`USE ${FILE_CATALOG}`);
      } catch (error) {
        native.disconnectSync();
        throw duckDbError(error);
      }
    }
    const connection = new DuckDbConnection(native, {
      library: this.#library,
      slots: this.#slots,
      feeds: this.#feeds,
      closed: (closed) => this.#open.delete(closed),
    });
    this.#open.add(connection);
    return connection;
  }

  /** Interrupts what runs, closes every connection, writes the log into the file and closes it. */
  [Symbol.asyncDispose](): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    await Promise.all([...this.#open].map((connection) => connection.close()));
    try {
      if (this.#hasFile) await this.#own.run(`CHECKPOINT ${FILE_CATALOG}`);
    } catch {
      // Nothing is lost: the log stays beside the file and is read when it is opened.
    } finally {
      this.#own.disconnectSync();
      this.#instance.closeSync();
    }
  }
}

/** Loads DuckDB if need be and opens an instance. */
export async function openDuckDb(options: OpenDuckDbOptions): Promise<DuckDbDatabase> {
  const library = await loadDuckDb();
  const instance = await library.api.DuckDBInstance.create(":memory:", {
    autoinstall_known_extensions: "false",
    autoload_known_extensions: "false",
    allow_community_extensions: "false",
    allow_persistent_secrets: "false",
    errors_as_json: "true",
    preserve_insertion_order: String(options.preserveInsertionOrder ?? false),
    ...(options.memoryLimitBytes === undefined ? {} : { memory_limit: `${options.memoryLimitBytes}B` }),
    ...(options.threads === undefined ? {} : { threads: String(options.threads) }),
    ...(options.tempDirectory === undefined ? {} : { temp_directory: options.tempDirectory }),
    ...(options.blockBytes === undefined ? {} : { default_block_size: String(options.blockBytes) }),
  });
  const connection = await instance.connect();
  try {
    if (options.memoryLimitBytes === undefined && options.threads === undefined) await readDefaultLimits(connection);
    for (const statement of setUp(options)) await connection.run(statement);
  } catch (error) {
    connection.disconnectSync();
    instance.closeSync();
    throw duckDbError(error);
  }
  return new DuckDbDatabase(instance, library, connection, options);
}

/** The statements that set an instance up. Their order matters: nothing opens after access is off, nothing sets after the lock. */
function setUp({ file, allowedPaths }: OpenDuckDbOptions): string[] {
  const statements = ["SET GLOBAL TimeZone = 'UTC'"];
  if (file !== undefined) {
    statements.push(
      `ATTACH ${literal(file)} AS ${FILE_CATALOG} (STORAGE_VERSION ${literal(STORAGE_VERSION)})`,
      `USE ${FILE_CATALOG}`,
    );
  }
  if (allowedPaths !== undefined) {
    const files = allowedPaths.files.flatMap((path) => BESIDE_DATABASE.map((ending) => path + ending));
    statements.push(
      `SET allowed_directories = ${list(allowedPaths.folders)}`,
      `SET allowed_paths = ${list(files)}`,
      "SET enable_external_access = false",
    );
  }
  statements.push("SET lock_configuration = true");
  return statements;
}

function list(texts: readonly string[]): string {
  return `[${texts.map(literal).join(", ")}]::VARCHAR[]`;
}
