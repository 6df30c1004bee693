import type { DuckDBConnection as NativeConnection, DuckDBResult } from "@duckdb/node-api";
import type { DataChunk } from "@duckdb/node-bindings";
import { DuckDbError } from "./error.ts";
import { executeStreaming } from "./execute.ts";
import type { DuckDbLibrary } from "./load.ts";
import { VectorReader } from "./vector_reader.ts";

/** Rows of a query, column by column. They can be read until the next chunk is asked for. */
export type RowChunk = { readonly rows: number; readonly columns: readonly VectorReader[] };

/** What a connection gives to a read. */
export type ReadAccess = {
  readonly library: DuckDbLibrary;
  readonly native: NativeConnection;
  /** Runs one call of DuckDB's when its turn has come; an abort interrupts it and rejects with the signal's reason. */
  readonly call: <T>(work: () => Promise<T>) => Promise<T>;
  /** Gives up a call that waits. */
  readonly stop: () => void;
  /** The connection is free again. */
  readonly release: () => void;
};

/**
 * The rows of a query that is open on a connection, which runs nothing else until this is closed. DuckDB tells of no
 * failure on the way: the rows just end. Whoever reads must know how many there are.
 */
export class RowRead implements AsyncDisposable {
  readonly #access: ReadAccess;
  readonly #result: DuckDBResult;
  /** What is read from. It must not be collected while its vectors are in use. */
  readonly #held: DataChunk[] = [];
  /** Fetched while the reader works on the chunk before it. */
  #next: Promise<DataChunk | null> | undefined;
  #ended = false;
  #closing: Promise<void> | undefined;

  constructor(access: ReadAccess, result: DuckDBResult) {
    this.#access = access;
    this.#result = result;
  }

  /** Opens a query; the connection is released by closing the read, or when this fails. */
  static async open(sql: string, access: ReadAccess): Promise<RowRead> {
    try {
      return new RowRead(access, await access.call(() => executeStreaming(access.native, sql, access.library)));
    } catch (error) {
      access.release();
      throw error;
    }
  }

  /** The next rows, at most a vector's; undefined after the last ones. */
  async next(): Promise<RowChunk | undefined> {
    this.#throwIfClosed();
    if (this.#ended) return undefined;
    this.#next ??= this.#fetch();
    const chunk = await this.#next;
    this.#throwIfClosed();
    this.#held.length = 0;
    if (chunk === null) {
      this.#ended = true;
      this.#next = undefined;
      return undefined;
    }
    this.#held.push(chunk);
    this.#next = this.#fetch();
    // Awaited by the next call or by closing.
    this.#next.catch(() => {});
    const { bindings } = this.#access.library;
    const rows = bindings.data_chunk_get_size(chunk);
    const count = bindings.data_chunk_get_column_count(chunk);
    const columns = Array.from(
      { length: count },
      (_, index) => new VectorReader(bindings, bindings.data_chunk_get_vector(chunk, index), rows),
    );
    return { rows, columns };
  }

  /** Ends the query, read to its end or not, and frees the connection. Never throws. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #close(): Promise<void> {
    try {
      this.#access.stop();
      await this.#next?.catch(() => {});
      // The next statement of a connection ends an open query; nothing else does before the result is collected.
      if (!this.#ended) await this.#access.native.run("SELECT NULL");
    } catch {
      // The transaction around has failed; it is its owner's to end.
    } finally {
      this.#held.length = 0;
      this.#next = undefined;
      this.#access.release();
    }
  }

  #throwIfClosed(): void {
    if (this.#closing !== undefined) throw new DuckDbError("The read is closed", "Connection");
  }

  #fetch(): Promise<DataChunk | null> {
    return this.#access.call(async () => {
      const chunk = await this.#result.fetchChunk();
      return chunk === null || chunk.rowCount === 0 ? null : chunk.chunk;
    });
  }
}
