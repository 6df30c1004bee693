import type { PostgresConfig } from "./config.ts";
import { PgSession } from "./session.ts";

/** How long a snapshot is kept for another attempt at parts that failed. */
const KEPT_MS = 60_000;

/** A connection that keeps one snapshot for the readers of one plan. */
export class SnapshotKeeper {
  readonly session: PgSession;
  readonly #onRelease: (keeper: SnapshotKeeper) => void;
  #snapshot: string | undefined;
  #expected = 0;
  #reading = 0;
  #hasFailed = false;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(session: PgSession, onRelease: (keeper: SnapshotKeeper) => void) {
    this.session = session;
    this.#onRelease = onRelease;
  }

  get snapshot(): string | undefined {
    return this.#snapshot;
  }

  /** Makes the snapshot usable for others. */
  async export(): Promise<void> {
    const [row] = await this.session.query("SELECT pg_catalog.pg_export_snapshot()");
    this.#snapshot = row?.[0] ?? "";
  }

  /** Whether others can still use the snapshot. */
  async isAlive(): Promise<boolean> {
    try {
      await this.session.query("SELECT 1");
      return this.#snapshot !== undefined;
    } catch {
      return false;
    }
  }

  /** So many readers will come; without any the keeper ends. */
  async expect(readers: number): Promise<void> {
    clearTimeout(this.#timer);
    this.#expected = readers;
    this.#hasFailed = false;
    if (readers === 0) await this.release();
  }

  readerBegan(): void {
    clearTimeout(this.#timer);
    this.#reading++;
    this.#expected--;
  }

  /** The end of the last one ends the keeper; after a failure it waits a while for another attempt. */
  async readerEnded(wasDone: boolean): Promise<void> {
    this.#reading--;
    if (!wasDone) this.#hasFailed = true;
    if (this.#reading > 0) return;
    if (this.#hasFailed) this.#timer = setTimeout(() => void this.release(), KEPT_MS);
    else if (this.#expected <= 0) await this.release();
  }

  async release(): Promise<void> {
    clearTimeout(this.#timer);
    this.#onRelease(this);
    await this.session[Symbol.asyncDispose]();
  }
}

/** The snapshots that are kept, by what was planned. */
export class SnapshotKeepers {
  readonly #keepers = new Map<string, SnapshotKeeper>();

  /** The keeper of an earlier plan, if others can still use its snapshot. */
  async living(plan: string): Promise<SnapshotKeeper | undefined> {
    const keeper = this.#keepers.get(plan);
    if (keeper === undefined || await keeper.isAlive()) return keeper;
    await keeper.release();
    return undefined;
  }

  get(plan: string): SnapshotKeeper | undefined {
    return this.#keepers.get(plan);
  }

  /** A keeper inside of a transaction that sees one state of the database; it takes the place of an earlier one. */
  async open(
    plan: string,
    config: PostgresConfig,
    signal: AbortSignal,
    explain: (error: unknown) => unknown,
  ): Promise<SnapshotKeeper> {
    await this.#keepers.get(plan)?.release();
    const own = new AbortController();
    const abort = () => own.abort(signal.reason);
    signal.addEventListener("abort", abort, { once: true });
    try {
      signal.throwIfAborted();
      const session = await PgSession.connect(config, own.signal);
      const keeper = new SnapshotKeeper(session, (ended) => {
        if (this.#keepers.get(plan) === ended) this.#keepers.delete(plan);
      });
      this.#keepers.set(plan, keeper);
      await session.begin("snapshot");
      return keeper;
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      throw explain(error);
    } finally {
      signal.removeEventListener("abort", abort);
    }
  }

  async closeAll(): Promise<void> {
    await Promise.all([...this.#keepers.values()].map((keeper) => keeper.release()));
  }
}
