import { ConnectorError, type DatasetSpec, type PartitionRef } from "../../../src/connectors/mod.ts";
import type { RunServices } from "../../../src/engine/mod.ts";
import { openStaging } from "../../../src/staging/mod.ts";
import { Field, Int32, makeData, RecordBatch, Schema, Struct } from "../../../src/util/arrow.ts";
import { connection, type Fixture, pipeline, source } from "./fixture.ts";
import { fakeSession } from "./session_support.ts";

export const SCHEMA = new Schema([new Field("n", new Int32(), true)]);

export function batch(from: number, count: number): RecordBatch {
  const values = Int32Array.from({ length: count }, (_, index) => from + index);
  const column = makeData({ type: new Int32(), length: count, nullCount: 0, data: values });
  const data = makeData({ type: new Struct(SCHEMA.fields), length: count, nullCount: 0, children: [column] });
  return new RecordBatch(SCHEMA, data);
}

/** Rows of each partition, and of each batch of it. */
export const PART_ROWS = 6;
export const BATCH_ROWS = 2;

export type PartsInit = {
  readonly ids: readonly string[];
  readonly streams?: boolean;
  /** Called before each batch of a partition, the first of which is 0, and before its end; what it throws the read throws. */
  readonly before?: (id: string, index: number, signal: AbortSignal) => void | Promise<void>;
  readonly schema?: () => Schema;
  readonly batch?: (id: string, index: number) => RecordBatch;
};

/**
 * A source of partitions that counts what is read of it. Partition number i, in the order of the ids, holds the
 * numbers from i * 1000 on.
 */
export class Parts {
  readonly reads: string[] = [];
  readonly plans: DatasetSpec[] = [];
  readonly services: RunServices;
  ids: readonly string[];
  readonly #init: PartsInit;

  constructor(init: PartsInit) {
    this.#init = init;
    this.ids = init.ids;
    this.services = {
      openStaging,
      random: () => 0,
      openSession: () =>
        fakeSession({
          getSchema: () => Promise.resolve(init.schema?.() ?? SCHEMA),
          planRead: (spec) => {
            this.plans.push(spec);
            return Promise.resolve(this.ids.map((id) => ({ id })));
          },
          planReadStreaming: (spec) => this.#stream(spec),
          read: (_spec, { id }, { signal }) => this.#read(id, signal),
        }),
    };
  }

  /** How often each partition was read that was not read once. */
  get repeated(): { readonly [id: string]: number } {
    const counts: { [id: string]: number } = {};
    for (const id of this.reads) counts[id] = (counts[id] ?? 0) + 1;
    return Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 1));
  }

  async *#stream(spec: DatasetSpec): AsyncGenerator<PartitionRef> {
    this.plans.push(spec);
    for (const id of this.ids) yield await Promise.resolve({ id });
  }

  async *#read(id: string, signal: AbortSignal): AsyncGenerator<RecordBatch> {
    this.reads.push(id);
    const from = this.ids.indexOf(id) * 1000;
    const batches = PART_ROWS / BATCH_ROWS;
    for (let index = 0; index < batches; index++) {
      await this.#init.before?.(id, index, signal);
      yield this.#init.batch?.(id, index) ?? batch(from + index * BATCH_ROWS, BATCH_ROWS);
    }
    await this.#init.before?.(id, batches, signal);
  }
}

export function ids(count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `part ${index}`);
}

/** A load of a dataset whose partitions have stable ids, and a pipeline that counts and adds up what it staged. */
export function partsRun(
  { streams = false, attempts = 3, more = {} }: {
    readonly streams?: boolean;
    readonly attempts?: number;
    readonly more?: Parameters<typeof source>[2];
  } = {},
): Parameters<import("./fixture.ts").Bench["run"]>[0] {
  const retry = { maxAttempts: attempts, baseDelayMs: 1, maxDelayMs: 1 };
  const plan = {
    strategy: "arrow_stream",
    stablePartitions: true,
    ...(streams ? { streamsPartitions: true } : {}),
  } as const;
  return [
    source("one", plan, { connection: connection("raw", { connector: "fake", retry }), ...more }),
    pipeline("all", "SELECT n FROM staging.one", ["one"]),
    pipeline("distinct", "SELECT DISTINCT n FROM staging.one", ["one"]),
  ];
}

export function transient(message = "the line broke"): ConnectorError {
  return new ConnectorError(message, { transient: true });
}

export const SMALL: Fixture = { engine: { threads: 2 } };
