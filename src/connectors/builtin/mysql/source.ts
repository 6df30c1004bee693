import type { RecordBatch, Schema } from "../../../util/arrow.ts";
import { ConnectorError, type DatasetSpec } from "../../contract/mod.ts";
import type { ConnectorHost, Partition, Source } from "../../sdk/connector.ts";
import { priorRanges, rangeId, rangeOf } from "../shared/ranges.ts";
import type { MysqlConfig } from "./config.ts";
import { columnsOf, type Dataset, describeDataset, relationOf, schemaOf, selectOf } from "./dataset.ts";
import { readOptions } from "./options.ts";
import { conditionOf, findRanges, partitionColumn } from "./partition.ts";
import { renderPredicate } from "./predicate.ts";
import { readBatches } from "./read_batches.ts";
import { RowDecoder } from "./row_decoder.ts";
import { MysqlSession, withSession } from "./session.ts";
import { toTrouble } from "./trouble.ts";

/** Reads tables and queries. */
export class MysqlSource implements Source {
  readonly #config: MysqlConfig;
  readonly #host: ConnectorHost;
  readonly #noticed = new Set<string>();
  /** Of each spec as described first, so that schema and batches agree. */
  readonly #schemas = new Map<string, Schema>();

  constructor(config: MysqlConfig, host: ConnectorHost) {
    this.#config = config;
    this.#host = host;
  }

  async schema(spec: DatasetSpec, signal: AbortSignal): Promise<Schema> {
    const key = keyOf(spec);
    const known = this.#schemas.get(key);
    if (known !== undefined) return known;
    const dataset = await this.#with(spec, signal, async (session) => {
      const described = await describeDataset(session, spec);
      const { partitions, partitionColumn: column } = readOptions(spec.options);
      // Told before anything is planned, so that who only asks for the columns hears of it.
      if (partitions > 1 && column !== undefined) partitionColumn(described, column);
      return described;
    });
    this.#tellTypes(dataset);
    this.#schemas.set(key, dataset.schema);
    return dataset.schema;
  }

  async plan(spec: DatasetSpec, signal: AbortSignal): Promise<readonly Partition[]> {
    const { partitions, partitionColumn: column } = readOptions(spec.options);
    const { name } = relationOf(spec);
    if (partitions === 1 || column === undefined) return [{ id: rangeId({}) }];
    const ranges = await this.#with(spec, signal, async (session) => {
      await session.beginSnapshot();
      const dataset = await describeDataset(session, spec);
      const divided = partitionColumn(dataset, column);
      return priorRanges(spec.priorPartitions, divided.name) ?? await findRanges(session, dataset, divided, partitions);
    });
    if (ranges.length > 1) {
      this.#tell(
        `${name}: its ${ranges.length} partitions see the table as it is when each of them starts, since connections of ` +
          `MySQL can't share a snapshot; a row whose "${column}" changes meanwhile may be read twice or not at all`,
      );
    }
    return ranges.map((range) => ({ id: rangeId(range) }));
  }

  async *read(
    spec: DatasetSpec,
    partition: Partition,
    { batchBytes, signal }: { readonly batchBytes: number; readonly signal: AbortSignal },
  ): AsyncGenerator<RecordBatch> {
    const range = rangeOf(partition.id);
    const schema = await this.schema(spec, signal);
    const { zeroDates } = readOptions(spec.options);
    const doing = `Reading ${relationOf(spec).name}`;
    try {
      await using session = await MysqlSession.connect(this.#config, "read", signal);
      await session.beginSnapshot();
      const dataset = await describeDataset(session, spec);
      const mustAgree = (found: Schema) => {
        if (String(found) === String(schema)) return;
        throw new ConnectorError(`${doing} failed: its columns changed since they were looked up`, { transient: true });
      };
      mustAgree(dataset.schema);
      const predicate = dataset.relation.table === undefined
        ? undefined
        : renderPredicate(spec.hints?.predicate, dataset);
      const conditions = [predicate, conditionOf(dataset, range)].filter((condition) => condition !== undefined);
      const { id } = await session.prepare(selectOf(dataset, conditions));
      const decoder = new RowDecoder(schema, dataset.wanted.map(({ rule }) => rule), batchBytes, zeroDates);
      yield* readBatches(session, id, decoder, (fields) => mustAgree(schemaOf(columnsOf(fields, spec))));
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      this.#schemas.delete(keyOf(spec));
      throw toTrouble(error, doing);
    }
  }

  #with<T>(spec: DatasetSpec, signal: AbortSignal, work: (session: MysqlSession) => Promise<T>): Promise<T> {
    const doing = `Reading ${relationOf(spec).name}`;
    return withSession(
      this.#config,
      { purpose: "read", signal, explain: (error) => toTrouble(error, doing) },
      work,
    );
  }

  /** Says once what arrives in another type than it has. */
  #tellTypes({ wanted, relation }: Dataset): void {
    for (const { name, rule } of wanted) {
      if (rule.notice !== undefined) this.#tell(`${relation.name}: column "${name}" is read as ${rule.notice}`);
    }
  }

  #tell(notice: string): void {
    if (this.#noticed.has(notice)) return;
    this.#noticed.add(notice);
    this.#host.notice(notice);
  }
}

function keyOf({ entity, options, columns, hints }: DatasetSpec): string {
  const asText = (_key: string, value: unknown) => typeof value === "bigint" ? String(value) : value;
  return JSON.stringify([entity, options, columns, hints?.columns], asText);
}
