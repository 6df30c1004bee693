import type { RecordBatch, Schema } from "../../../util/arrow.ts";
import { ConnectorError, type DatasetSpec } from "../../contract/mod.ts";
import type { ConnectorHost, Partition, Reading, Source } from "../../sdk/mod.ts";
import { checkpointOf, questionOf, tokenOf } from "./checkpoint.ts";
import type { HttpClient } from "./client.ts";
import { PageReading } from "./page_reading.ts";
import type { Pagination } from "./pagination.ts";
import { PLACE_OPTION } from "./place.ts";
import { type ReadOptions, readOptions } from "./read_options.ts";
import { ContractColumns, RawColumns, type RecordBatches } from "./record_columns.ts";

/** The pages follow one another, so there is one part, and it goes on behind any page. */
const ONLY_PARTITION: Partition = { id: "pages", checkpointing: true };

/** Reads the records of an API, page by page. */
export class HttpSource implements Source {
  readonly #client: HttpClient;
  readonly #host: ConnectorHost;

  constructor(client: HttpClient, host: ConnectorHost) {
    this.#client = client;
    this.#host = host;
  }

  schema(spec: DatasetSpec): Promise<Schema> {
    return Promise.resolve(columnsOf(spec).schema);
  }

  plan(spec: DatasetSpec): Promise<readonly Partition[]> {
    optionsOf(spec);
    return Promise.resolve([ONLY_PARTITION]);
  }

  resumeFrom(spec: DatasetSpec, _partition: Partition, token: string): Promise<boolean> {
    return Promise.resolve(checkpointOf(questionOf(this.#client.config.baseUrl, spec), token) !== undefined);
  }

  read(
    spec: DatasetSpec,
    _partition: Partition,
    { batchBytes, signal, resumeFrom }: {
      readonly batchBytes: number;
      readonly signal: AbortSignal;
      readonly resumeFrom?: string;
    },
  ): Reading {
    const options = optionsOf(spec);
    const question = questionOf(this.#client.config.baseUrl, spec);
    const columns = columnsOf(spec);
    const reading = new PageReading(this.#client, options, columns, {
      batchBytes,
      signal,
      from: resumeFrom === undefined ? undefined : checkpointOf(question, resumeFrom),
      onCut: (pages) =>
        this.#host.notice(`${options.path}: max_pages ended the read after ${pages} pages, and there are more`),
      onUnled: () => this.#host.notice(`${options.path}: ${unled(options.pagination)}: only that page is read`),
    });
    const all = this.#all(reading, columns, options);
    return {
      [Symbol.asyncIterator]: () => all,
      checkpoint: () => reading.reached === undefined ? undefined : tokenOf(question, reading.reached),
    };
  }

  async *#all(reading: PageReading, columns: RecordBatches, { path }: ReadOptions): AsyncGenerator<RecordBatch> {
    let rows = 0;
    for await (const batch of reading.batches()) {
      rows += batch.numRows;
      yield batch;
    }
    if (rows === 0 || !(columns instanceof ContractColumns)) return;
    for (const name of columns.unmet) {
      this.#host.notice(`${path}: none of the records has "${name}", so that the column holds nothing but NULL`);
    }
  }
}

function unled(pagination: Pagination): string {
  return pagination.kind === "cursor"
    ? `the first page holds nothing at "/${pagination.pointer.join("/")}", which is to lead to the next`
    : "the first page has no Link header, which is to lead to the next";
}

function columnsOf(spec: DatasetSpec): ContractColumns | RawColumns {
  const { columns = [] } = spec;
  if (columns.length === 0) return new RawColumns(optionsOf(spec).cursor);
  const place = spec.options[PLACE_OPTION];
  return new ContractColumns(columns, typeof place === "string" ? place : undefined);
}

function optionsOf({ options: map, columns = [] }: DatasetSpec): ReadOptions {
  const { options, problems: [problem] } = readOptions(map, columns.length === 0);
  if (options !== undefined && problem === undefined) return options;
  throw new ConnectorError(problem?.message ?? "A read without options", {
    transient: false,
    code: problem?.code,
    hint: problem?.hint,
  });
}
