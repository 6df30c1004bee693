import type { RecordBatch, Schema } from "../../../../util/arrow.ts";
import type { DatasetSpec } from "../../../contract/mod.ts";
import { arrowSchema } from "../../../sdk/arrow_types.ts";
import type { Partition, Source } from "../../../sdk/connector.ts";
import { CsvReader } from "./csv_reader.ts";
import { type ReadRequest, readRequest } from "./read_request.ts";
import { refused } from "./trouble.ts";

/** Reads CSV files as texts; types are the business of who asks. */
export class FileSource implements Source {
  schema(spec: DatasetSpec): Promise<Schema> {
    return Promise.resolve(schemaOf(readRequest(spec)));
  }

  /** Each partition is a run of files; its id is the number of the first, from 0. */
  plan(spec: DatasetSpec): Promise<readonly Partition[]> {
    const { files, filesPerPartition } = readRequest(spec);
    const count = Math.max(1, Math.ceil(files.length / filesPerPartition));
    return Promise.resolve(Array.from({ length: count }, (_, index) => ({ id: String(index * filesPerPartition) })));
  }

  async *read(
    spec: DatasetSpec,
    partition: Partition,
    options: { readonly batchBytes: number; readonly signal: AbortSignal },
  ): AsyncGenerator<RecordBatch> {
    const request = readRequest(spec);
    const first = Number(partition.id);
    if (!Number.isSafeInteger(first) || first < 0) throw refused(`There is no partition "${partition.id}"`);
    const reader = new CsvReader(request, schemaOf(request), options);
    const last = Math.min(request.files.length, first + request.filesPerPartition);
    for (let index = first; index < last; index++) yield* reader.file(index);
    yield* reader.rest();
  }
}

function schemaOf({ columns, place }: ReadRequest): Schema {
  return arrowSchema([
    ...columns.map((name) => ({ name, type: "VARCHAR" })),
    ...(place === undefined ? [] : [{ name: place, type: "BIGINT" }]),
  ]);
}
