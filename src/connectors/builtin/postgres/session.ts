import { connect as connectSocket } from "node:net";
import { ConnectorError } from "../../contract/mod.ts";
import type { PostgresConfig } from "./config.ts";
import { type OpenClient, openClient } from "./connect.ts";
import { Answer } from "./answer.ts";
import { CopyIn } from "./copy_in.ts";
import { CopyOut } from "./copy_out.ts";
import type { CopyTap, TakeCopyData } from "./copy_tap.ts";
import type Client from "./driver.ts";
import type { PgField } from "./driver.ts";

const CANCEL_CODE = 80_877_102;
const CANCEL_PATIENCE_MS = 2000;

/** Rows as the server's texts, NULL as null. */
export type Rows = readonly (readonly (string | null)[])[];

export type Transaction = "read" | "snapshot" | "write";

const BEGIN: { readonly [kind in Transaction]: string } = {
  read: "BEGIN ISOLATION LEVEL READ COMMITTED READ ONLY",
  snapshot: "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY",
  write: "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE",
};

/**
 * One connection to the server. Its statements don't overlap. Once its signal is aborted, the running statement is
 * cancelled on the server, the connection is gone, and everything throws the signal's reason.
 */
export class PgSession implements AsyncDisposable {
  readonly #client: Client;
  readonly #tap: CopyTap;
  readonly #config: PostgresConfig;
  readonly #signal: AbortSignal;
  readonly #onAbort = () => void this.#stop();
  #stopping: Promise<void> | undefined;

  private constructor({ client, tap }: OpenClient, config: PostgresConfig, signal: AbortSignal) {
    this.#client = client;
    this.#tap = tap;
    this.#config = config;
    this.#signal = signal;
    signal.addEventListener("abort", this.#onAbort, { once: true });
  }

  /** @throws {ConnectorError} when there is no way in */
  static async connect(config: PostgresConfig, signal: AbortSignal): Promise<PgSession> {
    const session = new PgSession(await openClient(config, signal), config, signal);
    if (signal.aborted) {
      await session.#stop();
      throw signal.reason;
    }
    return session;
  }

  /** Starts a transaction in which every setting that a value's text depends on is fixed. */
  async begin(kind: Transaction): Promise<void> {
    await this.query([
      BEGIN[kind],
      "SET LOCAL client_encoding = 'UTF8'",
      "SET LOCAL standard_conforming_strings = on",
      "SET LOCAL TimeZone = 'UTC'",
      "SET LOCAL DateStyle = 'ISO, YMD'",
      "SET LOCAL IntervalStyle = 'postgres'",
      "SET LOCAL bytea_output = 'hex'",
      "SET LOCAL extra_float_digits = 3",
      "SET LOCAL xmloption = content",
      "SET LOCAL idle_in_transaction_session_timeout = 0",
      // What a write does may take long, but it waits for others only so long.
      `SET LOCAL ${kind === "write" ? "lock" : "statement"}_timeout = ${this.#config.commandTimeoutSeconds * 1000}`,
      `SET LOCAL ${kind === "write" ? "statement" : "lock"}_timeout = 0`,
    ].join(";"));
  }

  /** For statements whose time depends on the amount of data. */
  async unboundTime(): Promise<void> {
    await this.query("SET LOCAL statement_timeout = 0");
  }

  /** As the first thing in a transaction of the kind `snapshot`: sees what the exporter of the snapshot sees. */
  async useSnapshot(name: string): Promise<void> {
    await this.query(`SET TRANSACTION SNAPSHOT '${name}'`);
  }

  /** Runs statements and gives the rows of the last one that has any. */
  query(sql: string): Promise<Rows> {
    return this.#run(() => {
      const answer = new Answer((connection) => connection.query(sql));
      this.#client.query(answer);
      return answer.rows;
    });
  }

  /** The columns of a query, which is not run; more than one statement, or one without rows, is refused. */
  describe(sql: string): Promise<readonly PgField[]> {
    return this.#run(() => {
      const answer = new Answer((connection) => {
        connection.parse({ text: sql });
        connection.describe({ type: "S" });
        connection.sync();
      });
      this.#client.query(answer);
      return answer.fields;
    });
  }

  /** Runs COPY … TO STDOUT; the messages with its rows are handed over as they come. */
  copyOut(sql: string, take: TakeCopyData): CopyOut {
    const patienceMs = this.#config.commandTimeoutSeconds * 1000;
    const copy = new CopyOut(sql, this.#tap, take, patienceMs, () => void this.#stop());
    this.#client.query(copy);
    return copy;
  }

  /** Runs COPY … FROM STDIN; resolves when the server waits for data. */
  copyIn(sql: string): Promise<CopyIn> {
    return this.#run(async () => {
      const copy = new CopyIn(sql);
      this.#client.query(copy);
      await copy.ready;
      return copy;
    });
  }

  /** What a failure is to be told as: the reason of the signal once that is aborted. */
  reasonOf(error: unknown): unknown {
    return this.#signal.aborted ? this.#signal.reason : error;
  }

  async #run<T>(start: () => Promise<T>): Promise<T> {
    this.#signal.throwIfAborted();
    try {
      return await start();
    } catch (error) {
      throw this.reasonOf(error);
    }
  }

  /** Ends the connection at once, and what the server still does for it. */
  async abandon(): Promise<void> {
    await this.#stop();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#signal.removeEventListener("abort", this.#onAbort);
    if (this.#stopping !== undefined) return await this.#stopping;
    await this.#client.end().catch(() => {});
  }

  #stop(): Promise<void> {
    return this.#stopping ??= this.#cancelAndDestroy();
  }

  async #cancelAndDestroy(): Promise<void> {
    await this.#requestCancel();
    const { stream } = this.#client.connection;
    if (stream.destroyed) return;
    const closed = new Promise<void>((resolve) => stream.once("close", () => resolve()));
    stream.destroy();
    await closed;
  }

  /** Asks the server to stop what it does for this connection; where that can't be asked, its next write finds out. */
  #requestCancel(): Promise<void> {
    const { processID, secretKey } = this.#client;
    if (processID === null || secretKey === null || this.#client.connection.stream.destroyed) return Promise.resolve();
    const request = new DataView(new ArrayBuffer(16));
    [16, CANCEL_CODE, processID, secretKey].forEach((word, index) => request.setInt32(index * 4, word));
    return new Promise((resolve) => {
      const socket = connectSocket(this.#config.port, this.#config.host);
      const timer = setTimeout(() => socket.destroy(), CANCEL_PATIENCE_MS);
      socket.on("error", () => {});
      socket.on("close", () => {
        clearTimeout(timer);
        resolve();
      });
      socket.on("connect", () => socket.write(new Uint8Array(request.buffer)));
      socket.resume();
      // The server closes the connection when it has passed the request on.
    });
  }
}

/** Runs work on a connection of its own; failures that are not the driver's are passed as they are. */
export async function withSession<T>(
  config: PostgresConfig,
  signal: AbortSignal,
  explain: (error: unknown) => unknown,
  work: (session: PgSession) => Promise<T>,
): Promise<T> {
  try {
    await using session = await PgSession.connect(config, signal);
    return await work(session);
  } catch (error) {
    if (signal.aborted) throw signal.reason;
    throw error instanceof ConnectorError ? error : explain(error);
  }
}
