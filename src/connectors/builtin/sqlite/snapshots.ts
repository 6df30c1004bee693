import { Database } from "./database.ts";

/** One state of a database, kept for the parts of a planned read. */
class Snapshot {
  readonly database: Database;
  readonly waiting: Set<string>;
  #readers = 0;

  constructor(database: Database, ids: readonly string[]) {
    this.database = database;
    this.waiting = new Set(ids);
  }

  enter(id: string): void {
    this.waiting.delete(id);
    this.#readers++;
  }

  leave(): void {
    this.#readers--;
    this.closeIfIdle();
  }

  closeIfIdle(): void {
    if (this.#readers === 0 && this.waiting.size === 0) this.database[Symbol.dispose]();
  }
}

/** Whoever reads a part of a database, in the state that it was planned in where that is still kept. */
export type Lease = Disposable & { readonly database: Database };

/** The states of one database that planned reads still wait for. */
export class Snapshots implements Disposable {
  readonly #path: string;
  readonly #kept = new Map<string, Snapshot>();

  constructor(path: string) {
    this.#path = path;
  }

  /** Opens a database in one state, which lasts as long as it is open. */
  open(): Database {
    const database = new Database(this.#path, "read");
    try {
      database.run("BEGIN");
      // Only now the state is fixed.
      database.rows("SELECT 1 FROM sqlite_master LIMIT 1");
      return database;
    } catch (error) {
      database[Symbol.dispose]();
      throw error;
    }
  }

  /** Keeps a state for parts with these ids of the read that `key` names; an earlier one of it is given up. */
  keep(key: string, database: Database, ids: readonly string[]): void {
    this.#giveUp(key);
    this.#kept.set(key, new Snapshot(database, ids));
  }

  /** The state that a part was planned in, once; otherwise one of its own. */
  lease(key: string, id: string): Lease {
    const kept = this.#kept.get(key);
    if (kept === undefined || !kept.waiting.has(id)) {
      const database = this.open();
      return { database, [Symbol.dispose]: () => database[Symbol.dispose]() };
    }
    kept.enter(id);
    if (kept.waiting.size === 0) this.#kept.delete(key);
    return { database: kept.database, [Symbol.dispose]: () => kept.leave() };
  }

  #giveUp(key: string): void {
    const kept = this.#kept.get(key);
    if (kept === undefined) return;
    this.#kept.delete(key);
    kept.waiting.clear();
    kept.closeIfIdle();
  }

  [Symbol.dispose](): void {
    for (const key of [...this.#kept.keys()]) this.#giveUp(key);
  }
}
