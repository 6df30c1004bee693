import { ConnectorError } from "../../contract/mod.ts";
import { Execute, type Payload, Prepare, Quit, type RowTaker, Statement } from "./commands.ts";
import type { MysqlConfig } from "./config.ts";
import { openConnection } from "./connect.ts";
import type { Connection } from "./driver.ts";
import type { FieldInfo } from "./wire.ts";

const KILL_PATIENCE_MS = 2000;
const CLOSE_PATIENCE_MS = 2000;
/** A write waits for locks as long as a command may take, and the server says best that it has waited too long. */
const LOCK_MARGIN_SECONDS = 10;
/** A reader may be slow, and a writer may wait for rows, for as long as a day. */
const LONG_SECONDS = 86_400;
const MAX_LOCK_WAIT_SECONDS = 1_073_741_824;

/** Rows as the server's texts, NULL as null. */
export type Rows = readonly (readonly (string | null)[])[];

export type Purpose = "read" | "write";

/** A statement that the server has looked at. */
export type Prepared = { readonly id: number; readonly fields: readonly FieldInfo[] };

/**
 * One connection to the server. Its statements don't overlap. Once its signal is aborted, the running statement is
 * killed on the server, the connection is gone, and everything throws the signal's reason.
 */
export class MysqlSession implements AsyncDisposable {
  readonly #connection: Connection;
  readonly #config: MysqlConfig;
  readonly #signal: AbortSignal;
  readonly #onAbort = () => void this.#stop();
  readonly #running = new Set<Statement | Prepare | Execute>();
  readonly #isWrite: boolean;
  #stopping: Promise<void> | undefined;
  #timedOut: ConnectorError | undefined;

  private constructor(connection: Connection, config: MysqlConfig, purpose: Purpose, signal: AbortSignal) {
    this.#connection = connection;
    this.#isWrite = purpose === "write";
    this.#config = config;
    this.#signal = signal;
    signal.addEventListener("abort", this.#onAbort, { once: true });
  }

  /** @throws {ConnectorError} when there is no way in */
  static async connect(config: MysqlConfig, purpose: Purpose, signal: AbortSignal): Promise<MysqlSession> {
    const session = new MysqlSession(await openConnection(config, signal), config, purpose, signal);
    try {
      signal.throwIfAborted();
      await session.#prepareFor(purpose);
      return session;
    } catch (error) {
      await session[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Fixes every setting that what a value is stored as, or sent as, depends on. */
  async #prepareFor(purpose: Purpose): Promise<void> {
    const lockWait = this.#config.commandTimeoutSeconds === 0
      ? MAX_LOCK_WAIT_SECONDS
      : this.#config.commandTimeoutSeconds;
    const mode = purpose === "read"
      ? "STRICT_ALL_TABLES"
      : "STRICT_ALL_TABLES,NO_ZERO_DATE,NO_ZERO_IN_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_AUTO_VALUE_ON_ZERO," +
        "NO_ENGINE_SUBSTITUTION";
    await this.query("SET NAMES utf8mb4");
    await this.query(
      `SET SESSION time_zone = '+00:00', sql_mode = '${mode}', net_write_timeout = ${LONG_SECONDS}, ` +
        `net_read_timeout = ${LONG_SECONDS}, wait_timeout = ${LONG_SECONDS}, ` +
        `innodb_lock_wait_timeout = ${lockWait}, lock_wait_timeout = ${Math.min(lockWait, 31_536_000)}, autocommit = 1`,
    );
  }

  get isMariaDb(): boolean {
    return this.#connection._isMariaDB;
  }

  /** Starts a transaction that sees one state of the database and changes nothing. */
  async beginSnapshot(): Promise<void> {
    await this.query("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ");
    await this.query("START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY");
  }

  async beginWrite(): Promise<void> {
    await this.query("SET TRANSACTION ISOLATION LEVEL REPEATABLE READ");
    await this.query("START TRANSACTION READ WRITE");
  }

  /** Runs one statement and gives its rows; it may take as long as a command may. */
  async query(sql: string): Promise<Rows> {
    const statement = new Statement(sql);
    await this.#bounded(() => this.#run(statement));
    return statement.rows;
  }

  /** Runs one statement, whose time depends on the amount of data; gives the number of rows that it wrote or found. */
  async change(sql: string | Payload): Promise<bigint> {
    const statement = new Statement(sql);
    await this.#run(statement);
    return statement.affectedRows;
  }

  /** Runs one query whose time depends on the amount of data. */
  async scan(sql: string): Promise<Rows> {
    const statement = new Statement(sql);
    await this.#run(statement);
    return statement.rows;
  }

  /** Makes the server look at one statement, which is not run; more than one are refused. */
  async prepare(sql: string): Promise<Prepared> {
    const prepare = new Prepare(sql);
    await this.#bounded(() => this.#run(prepare));
    return prepare;
  }

  /**
   * Runs a prepared statement; its rows go to `taker` as they come, the first one within the time that a command may
   * take. What the taker throws ends the connection.
   */
  async execute(id: number, taker: RowTaker): Promise<void> {
    const started = Promise.withResolvers<void>();
    const execute = new Execute(id, {
      described: (fields) => {
        taker.described(fields);
        started.resolve();
      },
      row: (packet) => taker.row(packet),
    });
    const end = this.#run(execute);
    end.then(started.resolve, started.resolve);
    await this.#bounded(() => started.promise);
    await end;
  }

  /** Stops taking what the server sends. */
  pause(): void {
    this.#connection.pause();
  }

  /** Goes on; a turn later, since on some versions of the runtime a resume in the turn of its pause loses data. */
  async resume(): Promise<void> {
    await new Promise<void>((resolve) => setTimeout(resolve));
    this.#connection.resume();
  }

  /** What a failure is to be told as: the reason of the signal once that is aborted. */
  reasonOf(error: unknown): unknown {
    return this.#signal.aborted ? this.#signal.reason : this.#timedOut ?? error;
  }

  async #run(command: Statement | Prepare | Execute): Promise<void> {
    this.#signal.throwIfAborted();
    this.#running.add(command);
    try {
      this.#connection.addCommand(command);
      await command.end;
    } catch (error) {
      throw this.reasonOf(error);
    } finally {
      this.#running.delete(command);
    }
  }

  async #bounded<T>(work: () => Promise<T>): Promise<T> {
    const seconds = this.#config.commandTimeoutSeconds;
    if (seconds === 0) return await work();
    const timer = setTimeout(() => {
      this.#timedOut = new ConnectorError(`The server did not answer within ${seconds} seconds`, {
        transient: false,
        hint: "raise command_timeout_seconds of the connection; 0 means no limit",
      });
      void this.#stop();
    }, (this.#isWrite ? seconds + LOCK_MARGIN_SECONDS : seconds) * 1000);
    try {
      return await work();
    } finally {
      clearTimeout(timer);
    }
  }

  /** Ends the connection at once, and what the server still does for it. */
  async abandon(): Promise<void> {
    await this.#stop();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#signal.removeEventListener("abort", this.#onAbort);
    if (this.#stopping !== undefined || this.#running.size > 0) return await this.#stop();
    const closed = this.#closed();
    this.#connection.addCommand(new Quit());
    this.#connection.destroy(); // ends the socket once all is sent
    const timer = setTimeout(() => this.#connection.stream.destroy(), CLOSE_PATIENCE_MS);
    this.#connection.resume();
    await closed;
    clearTimeout(timer);
  }

  #closed(): Promise<void> {
    const { stream } = this.#connection;
    return new Promise((resolve) => {
      if (stream.destroyed) resolve();
      else stream.once("close", () => resolve());
    });
  }

  #stop(): Promise<void> {
    return this.#stopping ??= this.#killAndDestroy();
  }

  async #killAndDestroy(): Promise<void> {
    // An idle server notices by itself that nobody is there any more.
    if (this.#running.size > 0) await this.#kill();
    const closed = this.#closed();
    this.#connection.destroy();
    this.#connection.stream.destroy();
    // The driver tells nobody of an end that it was asked for.
    for (const command of this.#running) command.onResult(new Error("Connection lost"));
    await closed;
  }

  /** Asks the server to stop what it does for this connection; where that can't be asked, its next write finds out. */
  async #kill(): Promise<void> {
    const { threadId } = this.#connection;
    if (threadId === null || this.#connection.stream.destroyed) return;
    const patience = AbortSignal.timeout(KILL_PATIENCE_MS);
    try {
      const other = await openConnection(this.#config, patience);
      const closed = new Promise<void>((resolve) => other.stream.once("close", () => resolve()));
      const kill = new Statement(`KILL ${threadId}`);
      const giveUp = () => other.stream.destroy();
      patience.addEventListener("abort", giveUp, { once: true });
      other.addCommand(kill);
      await kill.end.catch(() => {});
      other.destroy();
      other.stream.destroy();
      await closed;
    } catch {
      // nothing more can be done from here
    }
  }
}

/** Runs work on a connection of its own; failures that are not the driver's are passed as they are. */
export async function withSession<T>(
  config: MysqlConfig,
  { purpose, signal, explain }: {
    readonly purpose: Purpose;
    readonly signal: AbortSignal;
    readonly explain: (error: unknown) => unknown;
  },
  work: (session: MysqlSession) => Promise<T>,
): Promise<T> {
  try {
    await using session = await MysqlSession.connect(config, purpose, signal);
    return await work(session);
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    throw error instanceof ConnectorError ? error : explain(error);
  }
}
