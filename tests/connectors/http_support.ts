import { connector } from "../../src/connectors/builtin/http/connector.ts";
import { http } from "../../src/connectors/builtin/http/description.ts";
import type { ColumnSpec, ConfigMap, DatasetSpec, OutputSpec, WriteResult } from "../../src/connectors/mod.ts";
import { columnReaders, type ConnectorHost, type ConnectorInstance } from "../../src/connectors/sdk/mod.ts";
import type { RecordBatch, Schema } from "../../src/util/arrow.ts";
import { testHost } from "../harness/connector_host.ts";

export const NEVER = new AbortController().signal;
export const READ = { batchBytes: 1 << 20, signal: NEVER };

/** The connector in this process, with what it told its host. */
export class Opened implements AsyncDisposable {
  readonly notices: string[] = [];
  /** Each operation as its label, with `!` for one that must not be repeated. */
  readonly operations: string[] = [];
  readonly budgets: (readonly [number, number])[] = [];
  readonly instance: ConnectorInstance;

  constructor(origin: string, config: ConfigMap = {}, host: Partial<ConnectorHost> = {}) {
    this.instance = connector.open(
      { base_url: origin, ...config },
      testHost({
        notice: (text) => void this.notices.push(text),
        operate: ({ label, idempotent, signal }, work) => {
          this.operations.push(`${label}${idempotent ? "" : "!"}`);
          return work(signal);
        },
        reportBudget: (remaining, resetAt) => void this.budgets.push([remaining, resetAt]),
        ...host,
      }),
    );
  }

  get source(): NonNullable<ConnectorInstance["source"]> {
    if (this.instance.source === undefined) throw new Error("no source");
    return this.instance.source;
  }

  get sink(): NonNullable<ConnectorInstance["sink"]> {
    if (this.instance.sink === undefined) throw new Error("no sink");
    return this.instance.sink;
  }

  /** Every row of a dataset, as the builders take them. */
  async rows(spec: DatasetSpec, batchBytes = 1 << 20): Promise<unknown[][]> {
    const rows: unknown[][] = [];
    for await (const partition of await this.source.plan(spec, NEVER)) {
      for await (const batch of this.source.read(spec, partition, { batchBytes, signal: NEVER })) {
        rows.push(...rowsOf(batch));
      }
    }
    return rows;
  }

  /** Writes batches and commits. */
  async write(spec: OutputSpec, schema: Schema, batches: Iterable<RecordBatch>): Promise<WriteResult> {
    const session = await this.sink.begin(spec, schema, NEVER);
    try {
      for (const batch of batches) await session.write(batch, NEVER);
    } catch (error) {
      await session.abort();
      throw error;
    }
    return await session.commit();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.instance.close?.();
  }
}

/** The rows of a batch. */
export function rowsOf(batch: RecordBatch): unknown[][] {
  const readers = columnReaders(batch);
  return Array.from({ length: batch.numRows }, (_, row) => readers.map((reader) => reader.value(row)));
}

export function dataset(options: ConfigMap, columns?: readonly ColumnSpec[]): DatasetSpec {
  const spec = { connection: "api", entity: "orders", config: {}, options: { path: "/orders", ...options } };
  return columns === undefined ? spec : { ...spec, columns };
}

let writes = 0;

export function output(mode: OutputSpec["mode"], options: ConfigMap, keys: readonly string[] = []): OutputSpec {
  return {
    connection: "api",
    entity: "orders",
    config: {},
    options,
    mode,
    schemaPolicy: "fail_on_change",
    keys,
    attempt: { node: `n${++writes}`, run: "r1", ordinal: 1 },
  };
}

export const ID: readonly ColumnSpec[] = [{ name: "id", type: "varchar" }];

/** What the engine's side says about a dataset: undefined where nothing is wrong. */
export function refusalOf(origin: string, spec: DatasetSpec): string | undefined {
  const outcome = http.nativeScan({ ...spec, config: { base_url: origin } }, { projectRoot: "/nowhere" });
  return outcome?.ok === false ? outcome.problems[0]?.message : undefined;
}
