import { type ConfigValue, ConnectorError, type OutputSpec } from "../../../contract/mod.ts";

/** What the process is asked to write: the plan has found the place and checked every option. */
export type WriteRequest = {
  readonly format: "csv" | "tsv" | "json";
  readonly delimiter: string;
  /** Absolute: the file or, with partitions, the folder. */
  readonly final: string;
  /** Its name in the same folder until it is complete. */
  readonly aside: string;
  /** The columns whose values name folders, and the name of the file in each of these. */
  readonly partitions: { readonly columns: readonly string[]; readonly file: string } | undefined;
};

/** @throws {ConnectorError} for options that no plan makes */
export function writeRequest({ options }: OutputSpec): WriteRequest {
  const { format, delimiter, final, aside, partition_by: columns, file } = options;
  if (
    (format !== "csv" && format !== "tsv" && format !== "json") || typeof delimiter !== "string" ||
    typeof final !== "string" || typeof aside !== "string"
  ) {
    throw misuse();
  }
  if (columns === undefined) return { format, delimiter, final, aside, partitions: undefined };
  if (!isTexts(columns) || typeof file !== "string") throw misuse();
  return { format, delimiter, final, aside, partitions: { columns, file } };
}

function isTexts(value: ConfigValue): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string");
}

function misuse(): ConnectorError {
  return new ConnectorError("A write of files without a place and a layout", { transient: false, code: "PZ0301" });
}
