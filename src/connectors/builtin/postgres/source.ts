import type { RecordBatch, Schema } from "../../../util/arrow.ts";
import { ConnectorError, type DatasetSpec } from "../../contract/mod.ts";
import type { ConnectorHost, Partition, Source } from "../../sdk/connector.ts";
import type { PostgresConfig } from "./config.ts";
import { type Dataset, describeDataset, relationOf, selectOf } from "./dataset.ts";
import { readOptions } from "../shared/read_options.ts";
import { priorRanges, type Range, rangeId, rangeOf } from "../shared/ranges.ts";
import { findRanges, partCondition, partitionColumn } from "./partition.ts";
import { renderPredicate } from "./predicate.ts";
import { readBatches } from "./read_batches.ts";
import { PgSession, withSession } from "./session.ts";
import { SnapshotKeepers } from "./snapshot.ts";
import { stateOf, toTrouble } from "./trouble.ts";

/** Reads tables and queries. */
export class PostgresSource implements Source, AsyncDisposable {
  readonly #config: PostgresConfig;
  readonly #host: ConnectorHost;
  readonly #keepers = new SnapshotKeepers();
  readonly #noticed = new Set<string>();
  /** Of each spec as described first, so that schema and batches agree. */
  readonly #schemas = new Map<string, Schema>();

  constructor(config: PostgresConfig, host: ConnectorHost) {
    this.#config = config;
    this.#host = host;
  }

  async schema(spec: DatasetSpec, signal: AbortSignal): Promise<Schema> {
    const key = keyOf(spec);
    const known = this.#schemas.get(key);
    if (known !== undefined) return known;
    const doing = `Reading ${relationOf(spec).name}`;
    const dataset = await withSession(this.#config, signal, (error) => toTrouble(error, doing), async (session) => {
      await session.begin("read");
      const described = await describeDataset(session, spec);
      const { partitions, partitionColumn: column } = readOptions(spec.options);
      // Told before anything is planned, so that who only asks for the columns hears of it.
      if (partitions > 1 && column !== undefined) partitionColumn(described, column);
      return described;
    });
    this.#tell(dataset);
    this.#schemas.set(key, dataset.schema);
    return dataset.schema;
  }

  async plan(spec: DatasetSpec, signal: AbortSignal): Promise<readonly Partition[]> {
    const { partitions, partitionColumn: column } = readOptions(spec.options);
    const relation = relationOf(spec);
    // What is planned anew is described anew.
    if (partitions === 1 || column === undefined) return [{ id: rangeId({}) }];
    const explain = (error: unknown) => toTrouble(error, `Reading ${relation.name}`);
    const key = planKeyOf(spec);
    // The snapshot lives as long as its connection, so beyond this call: what is left of an earlier plan is read in it too.
    const earlier = await this.#keepers.living(key);
    const keeper = earlier ?? await this.#keepers.open(key, this.#config, signal, explain);
    try {
      const dataset = await describeDataset(keeper.session, spec);
      const divided = partitionColumn(dataset, column);
      await keeper.session.unboundTime();
      const ranges = priorRanges(spec.priorPartitions, divided.name) ??
        await findRanges(keeper.session, dataset, divided, partitions);
      if (earlier === undefined) await keeper.export();
      const done = new Set(spec.priorPartitions?.flatMap(({ id, isDone }) => isDone ? [id] : []));
      const planned = ranges.map((range) => ({ id: rangeId(range) }));
      await keeper.expect(planned.filter(({ id }) => !done.has(id)).length);
      return planned;
    } catch (error) {
      await keeper.release();
      if (signal.aborted) throw signal.reason;
      throw explain(error);
    }
  }

  async *read(
    spec: DatasetSpec,
    partition: Partition,
    { batchBytes, signal }: { readonly batchBytes: number; readonly signal: AbortSignal },
  ): AsyncGenerator<RecordBatch> {
    const range = rangeOf(partition.id);
    const schema = await this.schema(spec, signal);
    const doing = `Reading ${relationOf(spec).name}`;
    const keeper = this.#keepers.get(planKeyOf(spec));
    let isDone = false;
    keeper?.readerBegan();
    try {
      await using session = await PgSession.connect(this.#config, signal);
      const dataset = await this.#enter(session, spec, range, keeper?.snapshot);
      if (String(dataset.schema) !== String(schema)) {
        this.#schemas.delete(keyOf(spec));
        throw new ConnectorError(`${doing} failed: its columns changed since they were looked up`, { transient: true });
      }
      const conditions = [
        dataset.relation.table === undefined ? undefined : renderPredicate(spec.hints?.predicate, dataset),
        partCondition(dataset, range),
      ].filter((condition) => condition !== undefined);
      const select = selectOf(dataset, conditions.length === 0 ? undefined : conditions.join(" AND "));
      yield* readBatches(session, select, { schema, kinds: dataset.kinds, batchBytes });
      isDone = true;
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      this.#schemas.delete(keyOf(spec));
      throw toTrouble(error, doing);
    } finally {
      await keeper?.readerEnded(isDone);
    }
  }

  /** Starts the transaction of a read, in the snapshot of its plan, and describes the dataset as it stands there. */
  async #enter(
    session: PgSession,
    spec: DatasetSpec,
    { column }: Range,
    snapshot: string | undefined,
  ): Promise<Dataset> {
    await session.begin("snapshot");
    // A part of a whole is read in the whole's snapshot only.
    if (column !== undefined && snapshot === undefined) throw snapshotGone();
    if (snapshot !== undefined) {
      try {
        await session.useSnapshot(snapshot);
      } catch (error) {
        const state = stateOf(error);
        if (state !== "22023" && state !== "42704" && state !== "55000") throw error;
        throw snapshotGone(error);
      }
    }
    const dataset = await describeDataset(session, spec);
    await session.unboundTime();
    return dataset;
  }

  /** Says once what arrives in another type than it has. */
  #tell({ wanted, relation }: Dataset): void {
    for (const { name, rule } of wanted) {
      if (rule.notice === undefined) continue;
      const notice = `${relation.name}: column "${name}" is read as ${rule.notice}`;
      if (this.#noticed.has(notice)) continue;
      this.#noticed.add(notice);
      this.#host.notice(notice);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#keepers.closeAll();
  }
}

function snapshotGone(cause?: unknown): ConnectorError {
  return new ConnectorError("The snapshot that the read was planned with is gone", { transient: true, cause });
}

/** The same for all parts of a plan. */
function planKeyOf({ entity, options, columns, hints }: DatasetSpec): string {
  return textOf([entity, options, columns, hints]);
}

function keyOf({ entity, options, columns, hints }: DatasetSpec): string {
  return textOf([entity, options, columns, hints?.columns]);
}

function textOf(value: readonly unknown[]): string {
  return JSON.stringify(value, (_key, part: unknown) => typeof part === "bigint" ? String(part) : part);
}
