import type { DatasetSpec, PartitionRef } from "../../connectors/mod.ts";
import type { DuckDbConnection } from "../../duckdb/mod.ts";
import { appendArrow, type PartitionLedger, transaction } from "../../staging/mod.ts";
import type { RecordBatch, Schema } from "../../util/arrow.ts";
import { BatchChannel } from "../batch_channel.ts";
import type { Requests, RunContext } from "../run_context.ts";
import { fairShare } from "./fair_share.ts";
import { ReadFault } from "./pending_partitions.ts";
import { Segments } from "./segments.ts";
import { faultPoint } from "../../util/mod.ts";

const CHANNEL_BATCHES = 4;
/** What all readers together hand to DuckDB at a time, and what one of them hands over at least. */
const INSERT_BYTES = 32 << 20;
const LEAST_INSERT_BYTES = 4 << 20;

export type PartitionReaderOptions = {
  readonly run: RunContext;
  readonly session: Requests;
  readonly spec: DatasetSpec;
  readonly schema: Schema;
  readonly ledger: PartitionLedger;
  /** The table of schema `staging` that gets the rows. */
  readonly relation: string;
  readonly batchBytes: number;
  readonly readers: number;
  readonly signal: AbortSignal;
  readonly onBatch: (batch: RecordBatch) => void;
  /** Monotonic milliseconds. */
  readonly monotonic: () => number;
};

/** Reads partitions into staging, each together with its account. */
export class PartitionReader {
  readonly #options: PartitionReaderOptions;
  #resumed = 0;
  #producerStallMs = 0;
  #consumerStallMs = 0;

  constructor(options: PartitionReaderOptions) {
    this.#options = options;
  }

  /** How many partitions went on where an earlier attempt had come to. */
  get resumed(): number {
    return this.#resumed;
  }

  /** How long the readers waited for staging, and staging for the readers, on average. */
  get stalls(): { readonly producerStallMs: number; readonly consumerStallMs: number } {
    const { readers } = this.#options;
    return {
      producerStallMs: Math.round(this.#producerStallMs / readers),
      consumerStallMs: Math.round(this.#consumerStallMs / readers),
    };
  }

  /**
   * Reads one partition to its end, on a connection that nothing else uses.
   *
   * @throws {ReadFault} for what failed at the source; then nothing of it is staged, but what a checkpoint stands for
   */
  async read(connection: DuckDbConnection, partition: PartitionRef): Promise<void> {
    if (partition.checkpointing === true) await this.#readSegments(connection, partition);
    else await this.#readWhole(connection, partition);
  }

  /** Without checkpoints nothing is committed before its end, so that the rows need no table of their own. */
  async #readWhole(connection: DuckDbConnection, partition: PartitionRef): Promise<void> {
    const { ledger, relation } = this.#options;
    await transaction(connection, async () => {
      const rows = await this.#append(connection, relation, (signal) => this.#open(partition, signal));
      await ledger.complete(connection, partition.id, rows);
      faultPoint("partition_staged");
    });
    faultPoint("partition_done");
  }

  async #readSegments(connection: DuckDbConnection, partition: PartitionRef): Promise<void> {
    const { ledger, signal, monotonic } = this.#options;
    const { id } = partition;
    const from = ledger.checkpoint(id);
    const stop = new AbortController();
    const stream = this.#open(partition, AbortSignal.any([signal, stop.signal]), from?.token);
    const segments = new Segments(stream, monotonic);
    try {
      await this.#asFault(() => segments.begin());
      let rows = 0;
      if (from !== undefined && stream.resumed === true) {
        rows = from.rows;
        this.#resumed++;
      } else await ledger.startPart(connection, id);
      do {
        rows = await transaction(connection, async () => {
          const all = rows + await this.#append(connection, ledger.partTable(id), (appending) => {
            appending.addEventListener("abort", () => stop.abort(appending.reason), { once: true });
            return segments.segment();
          });
          const { token } = segments;
          if (token !== undefined) await ledger.saveCheckpoint(connection, id, { token, rows: all });
          else {
            await ledger.movePart(connection, id);
            await ledger.complete(connection, id, all);
          }
          faultPoint("partition_staged");
          return all;
        });
        faultPoint("partition_done");
      } while (segments.token !== undefined && segments.fault === undefined);
      if (segments.fault !== undefined) throw new ReadFault(segments.fault.error);
    } finally {
      stop.abort(new DOMException("The read has ended", "AbortError"));
      await segments.close().catch(() => {});
    }
  }

  #open(partition: PartitionRef, signal: AbortSignal, resumeFrom?: string): ReturnType<Requests["read"]> {
    const { session, spec, batchBytes } = this.#options;
    return session.read(spec, partition, { batchBytes, signal, ...(resumeFrom === undefined ? {} : { resumeFrom }) });
  }

  /** Moves batches into a table, within the connection's transaction; both sides work at the same time. */
  async #append(
    connection: DuckDbConnection,
    table: string,
    open: (signal: AbortSignal) => AsyncIterable<RecordBatch>,
  ): Promise<number> {
    const { run, schema, readers, onBatch, monotonic } = this.#options;
    const stop = new AbortController();
    const signal = AbortSignal.any([this.#options.signal, stop.signal]);
    const channel = new BatchChannel<RecordBatch>({
      capacity: CHANNEL_BATCHES,
      budget: run.budget,
      share: Math.floor(fairShare(run) / readers),
      signal,
      monotonic,
    });
    let fault: ReadFault | undefined;
    const reading = this.#asFault(async () => {
      for await (const batch of open(signal)) {
        faultPoint("batch_read");
        if (!await channel.push(batch, batch.data.byteLength)) return;
      }
      channel.close();
    }).catch((error: unknown) => {
      if (error instanceof ReadFault) fault = error;
      channel.close({ error });
    });
    try {
      const { rows } = await appendArrow(connection, table, schema, told(channel, onBatch), {
        signal,
        insertBytes: Math.max(LEAST_INSERT_BYTES, Math.floor(INSERT_BYTES / readers)),
      });
      return rows;
    } catch (error) {
      // What the reading fails with from here on, it fails with because of this.
      const first = fault ?? error;
      stop.abort(error);
      throw first;
    } finally {
      await reading;
      this.#producerStallMs += channel.producerStallMs;
      this.#consumerStallMs += channel.consumerStallMs;
    }
  }

  /** What the connector fails with, unless it was stopped. */
  async #asFault<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      throw this.#options.signal.aborted ? this.#options.signal.reason : new ReadFault(error);
    }
  }
}

async function* told(
  batches: AsyncIterable<RecordBatch>,
  tell: (batch: RecordBatch) => void,
): AsyncGenerator<RecordBatch> {
  for await (const batch of batches) {
    tell(batch);
    yield batch;
  }
}
