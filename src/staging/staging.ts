import { type AllowedPaths, type DuckDbConnection, type DuckDbDatabase, openDuckDb } from "../duckdb/mod.ts";
import { ensureMeta } from "./meta.ts";

export type StagingOptions = {
  /** Path of the run's staging.duckdb; made if absent, with the schemas `staging` and `pz_meta`. */
  readonly file: string;
  readonly memoryLimitBytes: number;
  readonly threads: number;
  readonly tempDirectory: string;
  readonly allowedPaths: AllowedPaths;
  readonly preserveInsertionOrder: boolean;
  /** Size of the blocks of a new file; each table takes at least one. */
  readonly blockBytes?: number;
};

/** How many statements run at once. */
const MAX_STATEMENTS = 8;

/** A run's staging database. At most 8 statements run at once; a connection belongs to one node at a time. */
export class Staging implements AsyncDisposable {
  readonly #database: DuckDbDatabase;
  /** Runs setup statements. */
  readonly #own: DuckDbConnection;
  readonly #setups = new Map<string, Promise<unknown>>();

  /** Takes what `openStaging` has opened. */
  constructor(database: DuckDbDatabase, own: DuckDbConnection) {
    this.#database = database;
    this.#own = own;
  }

  /** A connection of its own for one node, closed by the caller. Each of its statements waits while 8 others run. */
  connect(): Promise<DuckDbConnection> {
    return this.#database.connect();
  }

  /** Runs connector setup statements once for each exact text; a failure is forgotten, so that a retry runs it again. */
  async setup(statements: readonly string[]): Promise<void> {
    for (const statement of statements) {
      let running = this.#setups.get(statement);
      if (running === undefined) {
        running = this.#own.run(statement).catch((error: unknown) => {
          this.#setups.delete(statement);
          throw error;
        });
        this.#setups.set(statement, running);
      }
      await running;
    }
  }

  /** Checkpoints and closes; what still runs is interrupted. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#database[Symbol.asyncDispose]();
  }
}

/**
 * Opens a run's staging database, or makes it.
 *
 * @throws {StagingFormatError} for one that a newer pz has made
 */
export async function openStaging(options: StagingOptions): Promise<Staging> {
  const database = await openDuckDb({ ...options, maxStatements: MAX_STATEMENTS });
  try {
    const own = await database.connect();
    await ensureMeta(own);
    return new Staging(database, own);
  } catch (error) {
    await database[Symbol.asyncDispose]();
    throw error;
  }
}
