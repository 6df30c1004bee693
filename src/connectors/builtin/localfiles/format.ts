import type { ConfigMap, ConfigProblem, ConfigValue } from "../../contract/mod.ts";

export type FileFormat = "csv" | "tsv" | "parquet" | "json";

/** How the files of one read or write are laid out, after every check of the options. */
export type FileOptions = {
  readonly format: FileFormat;
  /** What separates fields in csv and tsv. */
  readonly delimiter: string;
  /** Whether a json file is one array instead of an object a line; undefined where nothing is said. */
  readonly array: boolean | undefined;
};

const KNOWN = ["csv", "tsv", "parquet", "json", "xlsx", "avro"];

/** The format options of a read or a write; problems are pushed, and then the result is undefined. */
export function parseFileOptions(
  options: ConfigMap,
  side: "read" | "write",
  problems: ConfigProblem[],
): FileOptions | undefined {
  const found = problems.length;
  const format = parseFormat(options["format"], side, problems);
  if (format === undefined) return undefined;
  const delimiter = parseDelimiter(options["delimiter"], format, problems);
  const array = parseLayout(options["layout"], format, problems);
  for (const name of ["sheet", "header"]) {
    if (options[name] !== undefined) {
      problems.push({
        code: "PZ0362",
        message: `Option "${name}" belongs to format "xlsx", not to "${format}"`,
        option: name,
      });
    }
  }
  return problems.length > found ? undefined : { format, delimiter, array };
}

function parseFormat(
  value: ConfigValue | undefined,
  side: "read" | "write",
  problems: ConfigProblem[],
): FileFormat | undefined {
  if (value === undefined) return side === "read" ? "csv" : "parquet";
  switch (value) {
    case "csv":
    case "tsv":
    case "parquet":
    case "json":
      return value;
    case "avro":
    case "xlsx":
      problems.push(
        value === "avro" && side === "write"
          ? { code: "PZ0361", message: `Format "avro" can only be read`, option: "format" }
          : {
            code: "PZ0361",
            message: `Format "${value}" needs a DuckDB extension that pz does not ship`,
            option: "format",
            hint: `convert the file to csv, tsv, json or parquet`,
          },
      );
      return undefined;
    default:
      problems.push({
        code: "PZ0361",
        message: `Unknown format ${show(value)}: expected one of ${KNOWN.join(", ")}`,
        option: "format",
      });
      return undefined;
  }
}

function parseDelimiter(value: ConfigValue | undefined, format: FileFormat, problems: ConfigProblem[]): string {
  if (value === undefined) return format === "tsv" ? "\t" : ",";
  if (format !== "csv") {
    problems.push({
      code: "PZ0362",
      message: `Option "delimiter" belongs to format "csv", not to "${format}"`,
      option: "delimiter",
      ...(format === "tsv" ? { hint: "tsv is always separated by tabs" } : {}),
    });
    return ",";
  }
  if (typeof value !== "string" || !isDelimiter(value)) {
    problems.push({
      code: "PZ0362",
      message: `Option "delimiter" is ${show(value)}: expected one ASCII character, not a quote or a line break`,
      option: "delimiter",
    });
    return ",";
  }
  return value;
}

function isDelimiter(text: string): boolean {
  const code = text.charCodeAt(0);
  return text.length === 1 && code > 0 && code < 128 && !["\r", "\n", '"'].includes(text);
}

function parseLayout(
  value: ConfigValue | undefined,
  format: FileFormat,
  problems: ConfigProblem[],
): boolean | undefined {
  if (value === undefined) return undefined;
  if (format !== "json") {
    problems.push({
      code: "PZ0362",
      message: `Option "layout" belongs to format "json", not to "${format}"`,
      option: "layout",
    });
  } else if (value !== "ndjson" && value !== "array") {
    problems.push({
      code: "PZ0362",
      message: `Option "layout" is ${show(value)}: expected "ndjson" or "array"`,
      option: "layout",
    });
  }
  return value === "array";
}

/** A value as a message shows it. */
export function show(value: ConfigValue): string {
  if (typeof value === "string") return JSON.stringify(value);
  if (value !== null && typeof value === "object") return Array.isArray(value) ? "a list" : "a map";
  return String(value);
}
