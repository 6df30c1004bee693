import type { PostgresConfig } from "./config.ts";
import { PgSession } from "./session.ts";

/** A connection that keeps one snapshot for several readers. */
export class SnapshotKeeper {
  readonly session: PgSession;
  readonly #onRelease: (keeper: SnapshotKeeper) => void;
  #snapshot: string | undefined;
  #left = 0;

  constructor(session: PgSession, onRelease: (keeper: SnapshotKeeper) => void) {
    this.session = session;
    this.#onRelease = onRelease;
  }

  get snapshot(): string | undefined {
    return this.#snapshot;
  }

  /** Makes the snapshot usable for others and gives its name. */
  async export(): Promise<string> {
    const [row] = await this.session.query("SELECT pg_catalog.pg_export_snapshot()");
    return this.#snapshot = row?.[0] ?? "";
  }

  /** So many readers will end. */
  expect(readers: number): void {
    this.#left = readers;
  }

  /** One reader ended; the last one's end, or a failure, ends the keeper. */
  async readerEnded(wasDone: boolean): Promise<void> {
    this.#left--;
    if (!wasDone || this.#left <= 0) await this.release();
  }

  async release(): Promise<void> {
    this.#onRelease(this);
    await this.session[Symbol.asyncDispose]();
  }
}

/** The snapshots that are kept at a time. */
export class SnapshotKeepers {
  readonly #keepers = new Set<SnapshotKeeper>();

  /** A keeper inside of a transaction that sees one state of the database. */
  async open(
    config: PostgresConfig,
    signal: AbortSignal,
    explain: (error: unknown) => unknown,
  ): Promise<SnapshotKeeper> {
    const own = new AbortController();
    const abort = () => own.abort(signal.reason);
    signal.addEventListener("abort", abort, { once: true });
    try {
      signal.throwIfAborted();
      const session = await PgSession.connect(config, own.signal);
      const keeper = new SnapshotKeeper(session, (ended) => this.#keepers.delete(ended));
      this.#keepers.add(keeper);
      await session.begin("snapshot");
      return keeper;
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      throw explain(error);
    } finally {
      signal.removeEventListener("abort", abort);
    }
  }

  async partitionEnded(snapshot: string | undefined, wasDone: boolean): Promise<void> {
    if (snapshot === undefined) return;
    for (const keeper of this.#keepers) {
      if (keeper.snapshot === snapshot) return await keeper.readerEnded(wasDone);
    }
  }

  async closeAll(): Promise<void> {
    await Promise.all([...this.#keepers].map((keeper) => keeper.release()));
  }
}
