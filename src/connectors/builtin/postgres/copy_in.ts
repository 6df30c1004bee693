import { Statement } from "./answer.ts";
import type { PgConnection } from "./driver.ts";

/** A running COPY … FROM STDIN. */
export class CopyIn extends Statement {
  readonly #ready = Promise.withResolvers<void>();
  #connection: PgConnection | undefined;
  #rows = 0n;
  #writing: Promise<void> = Promise.resolve();
  #failure: { readonly error: unknown } | undefined;

  constructor(sql: string) {
    super((connection) => connection.query(sql));
    this.#ready.promise.catch(() => {});
  }

  /** Resolves when data may be sent. */
  get ready(): Promise<void> {
    return this.#ready.promise;
  }

  override handleCopyInResponse(connection: PgConnection): void {
    this.#connection = connection;
    this.#ready.resolve();
  }

  override handleCommandComplete({ text }: { readonly text: string }): void {
    this.#rows = BigInt(/^COPY (\d+)$/.exec(text)?.[1] ?? "0");
  }

  override handleError(error: unknown): void {
    this.#failure ??= { error };
    this.#ready.reject(error);
    super.handleError(error);
  }

  /**
   * Sends messages of the kind CopyData, already framed; waits until the ones before are on their way.
   *
   * @throws what the server, or the connection, failed with
   */
  async send(bytes: Uint8Array): Promise<void> {
    await this.#writing;
    if (this.#failure !== undefined) throw this.#failure.error;
    const stream = this.#connection?.stream;
    if (stream === undefined) throw new Error("Connection terminated");
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#writing = promise;
    // A failed write is told by the connection's end.
    stream.write(bytes, () => resolve());
    if (stream.destroyed) resolve();
  }

  /** Tells the server that all is sent; gives the number of rows that it took. */
  async finish(): Promise<bigint> {
    await this.#writing;
    if (this.#failure !== undefined) throw this.#failure.error;
    this.#connection?.endCopyFrom();
    await this.end;
    return this.#rows;
  }

  /** Makes the server throw the sent rows away. */
  async fail(): Promise<void> {
    if (this.#failure === undefined) this.#connection?.sendCopyFail("the write was aborted");
    await this.end.catch(() => {});
  }
}
