import { testHost } from "../harness/connector_host.ts";
import type { ConnectorModule } from "../../src/connectors/sdk/connector.ts";
import type { ConfigMap, DatasetSpec, OutputSpec, WriteResult } from "../../src/connectors/mod.ts";
import type { ConnectorInstance } from "../../src/connectors/sdk/connector.ts";
import type { DuckDbConnection } from "../../src/duckdb/mod.ts";
import { drainArrow, ingestArrow, openStaging } from "../../src/staging/mod.ts";
import type { RecordBatch, Schema } from "../../src/util/arrow.ts";
import { TempDir } from "../harness/temp_dir.ts";

export const NEVER = new AbortController().signal;
export const READ = { batchBytes: 1 << 20, signal: NEVER };

/** The connector in this process, with what it told. */
export class OpenedConnector implements AsyncDisposable {
  readonly notices: string[] = [];
  readonly instance: ConnectorInstance;

  constructor(connector: ConnectorModule, config: ConfigMap) {
    this.instance = connector.open(config, testHost({ notice: (text) => void this.notices.push(text) }));
  }

  get source(): NonNullable<ConnectorInstance["source"]> {
    if (this.instance.source === undefined) throw new Error("no source");
    return this.instance.source;
  }

  get sink(): NonNullable<ConnectorInstance["sink"]> {
    if (this.instance.sink === undefined) throw new Error("no sink");
    return this.instance.sink;
  }

  /** Every batch of a dataset, partition after partition. */
  async read(spec: DatasetSpec): Promise<{ readonly schema: Schema; readonly batches: readonly RecordBatch[] }> {
    const schema = await this.source.schema(spec, NEVER);
    const batches: RecordBatch[] = [];
    for await (const partition of await this.source.plan(spec, NEVER)) {
      for await (const batch of this.source.read(spec, partition, READ)) batches.push(batch);
    }
    return { schema, batches };
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

let writes = 0;

export function output(entity: string, mode: OutputSpec["mode"], more: Partial<OutputSpec> = {}): OutputSpec {
  const attempt = { node: `n${++writes}`, run: "r1", ordinal: 1 };
  return {
    connection: "db",
    entity,
    config: {},
    options: {},
    mode,
    schemaPolicy: "fail_on_change",
    keys: [],
    attempt,
    ...more,
  };
}

/** What a dataset becomes in DuckDB: `name TYPE` of each column, and the rows as DuckDB's texts. */
export async function staged(
  opened: OpenedConnector,
  spec: DatasetSpec,
): Promise<{ readonly shape: string[]; readonly rows: (string | null)[][] }> {
  const { schema, batches } = await opened.read(spec);
  return await stagedBatches(schema, batches);
}

/** What batches become in DuckDB. */
export async function stagedBatches(
  schema: Schema,
  batches: readonly RecordBatch[],
): Promise<{ readonly shape: string[]; readonly rows: (string | null)[][] }> {
  return await withDuck(async (connection) => {
    await ingestArrow(connection, "t", schema, each(batches), {});
    const shape = await connection.rows(
      "SELECT column_name || ' ' || column_type FROM (DESCRIBE staging.t)",
    );
    return {
      shape: shape.map(([text]) => text ?? ""),
      rows: (await connection.rows("SELECT COLUMNS(*)::VARCHAR FROM staging.t")).map((row) => [...row]),
    };
  });
}

/** Work on a staging database of its own. */
export async function withDuck<T>(work: (connection: DuckDbConnection) => Promise<T>): Promise<T> {
  await using folder = await TempDir.create();
  await using staging = await openStaging({
    file: folder.join("staging.duckdb"),
    memoryLimitBytes: 500_000_000,
    threads: 2,
    tempDirectory: folder.join("spill"),
    allowedPaths: { files: [], folders: [] },
    preserveInsertionOrder: true,
  });
  return await work(await staging.connect());
}

async function* each<T>(items: Iterable<T>): AsyncGenerator<T> {
  yield* items;
  await Promise.resolve();
}

/** The rows of a query as a write gets them. */
export async function fromDuck(
  sql: string,
): Promise<{ readonly schema: Schema; readonly batches: readonly RecordBatch[] }> {
  return await withDuck(async (connection) => {
    await connection.run(`CREATE TABLE staging.rows AS ${sql}`);
    const { schema, batches } = await drainArrow(connection, "rows", { batchBytes: 1 << 20 });
    return { schema, batches: await Array.fromAsync(batches) };
  });
}
