import { type ConfigValue, ConnectorError, type DatasetSpec } from "../../../contract/mod.ts";

/** What the process is asked to read: the plan has looked for the files and checked every option. */
export type ReadRequest = {
  /** Absolute, in the order in which `place` counts them. */
  readonly files: readonly string[];
  /** The folder from which on folders of the form `name=value` give columns. */
  readonly base: string;
  readonly delimiter: string;
  /** The names of the columns, all of them texts. */
  readonly columns: readonly string[];
  /** The name of a further column that tells each row's file and line; absent: there is none. */
  readonly place: string | undefined;
  readonly filesPerPartition: number;
};

/** @throws {ConnectorError} for options that no plan makes */
export function readRequest({ options, columns = [] }: DatasetSpec): ReadRequest {
  const { files, base, delimiter, place, files_per_partition: filesPerPartition } = options;
  if (!isTexts(files) || typeof base !== "string" || typeof delimiter !== "string" || columns.length === 0) {
    throw misuse();
  }
  if (place !== undefined && typeof place !== "string") throw misuse();
  const many = Number(filesPerPartition);
  if (!Number.isSafeInteger(many) || many < 1) throw misuse();
  return { files, base, delimiter, columns: columns.map(({ name }) => name), place, filesPerPartition: many };
}

function isTexts(value: ConfigValue | undefined): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}

function misuse(): ConnectorError {
  return new ConnectorError("A read of files without a list of files, their layout and the columns to read", {
    transient: false,
    code: "PZ0301",
  });
}
