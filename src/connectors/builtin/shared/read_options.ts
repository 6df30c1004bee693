import type { ConfigMap, ConfigProblem } from "../../contract/mod.ts";

const MAX_PARTITIONS = 16;

/** The options of a read, checked. */
export type ReadOptions = {
  /** Without the semicolon at its end. */
  readonly query: string | undefined;
  readonly partitionColumn: string | undefined;
  readonly partitions: number;
  readonly problems: readonly ConfigProblem[];
};

/** Reads the options of a read. */
export function readOptions(options: ConfigMap): ReadOptions {
  const problems: ConfigProblem[] = [];
  const query = nonEmptyText(options, "query", problems)?.replace(/[\s;]+$/, "");
  const partitionColumn = nonEmptyText(options, "partition_column", problems);
  const given = options["partitions"] ?? 1;
  const partitions = typeof given === "bigint" || typeof given === "number" || typeof given === "string"
    ? Number(given)
    : NaN;
  if (!(Number.isInteger(partitions) && partitions >= 1 && partitions <= MAX_PARTITIONS)) {
    problems.push({
      code: "PZ0301",
      message: `Option "partitions" is ${typeof given === "object" ? "no number" : `"${given}"`}`,
      option: "partitions",
      hint: `expected a whole number from 1 to ${MAX_PARTITIONS}`,
    });
  } else if (partitions > 1 && partitionColumn === undefined && problems.length === 0) {
    problems.push({
      code: "PZ0301",
      message: `Option "partitions" is "${partitions}", but there is no "partition_column"`,
      option: "partitions",
      hint: "add partition_column: the name of a whole-number, decimal, date or timestamp column",
    });
  }
  return { query, partitionColumn, partitions, problems };
}

function nonEmptyText(options: ConfigMap, name: string, problems: ConfigProblem[]): string | undefined {
  const value = options[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value === "string" && value.trim() !== "" && !value.includes("\0")) return value;
  problems.push({
    code: "PZ0301",
    message: `Option "${name}" is no text`,
    option: name,
    hint: `give ${name} a text`,
  });
  return undefined;
}
