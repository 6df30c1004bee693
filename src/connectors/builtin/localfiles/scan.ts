import type {
  ColumnSpec,
  ConfigProblem,
  ConnectorContext,
  DatasetSpec,
  NativeOutcome,
  NativeScan,
} from "../../contract/mod.ts";
import { duckDbType } from "../../contract/mod.ts";
import { ident, literal } from "../../../duckdb/mod.ts";
import { type FileOptions, parseFileOptions } from "./format.ts";
import { expandGlob, globBase, isGlob, statOrNothing } from "./glob.ts";
import { isInside, readPlace, realPath, rootOf } from "./place.ts";

/** A column of a contract with its DuckDB type. */
type TypedColumn = { readonly name: string; readonly type: string };

/** The scan of one dataset, or every problem that its options, its contract and the disk show. */
export function scanFiles(spec: DatasetSpec, context: ConnectorContext): NativeOutcome<NativeScan> {
  const problems: ConfigProblem[] = [];
  const file = parseFileOptions(spec.options, "read", problems);
  const columns = typedColumns(spec.columns, problems);
  const path = file === undefined ? undefined : readPlace(spec, file.format, context, problems);
  if (file === undefined || path === undefined || problems.length > 0) return { ok: false, problems };
  const missing = checkFiles(spec, path, context);
  if (missing !== undefined) return { ok: false, problems: [missing] };
  return {
    ok: true,
    value: {
      fragment: fragmentOf(path, file, columns),
      setup: [],
      mechanism: mechanismOf(file),
      schemaInferred: columns === undefined && file.format !== "parquet",
      reads: isGlob(path) ? { files: [], folders: [globBase(path)] } : { files: [path], folders: [] },
    },
  };
}

function typedColumns(
  columns: readonly ColumnSpec[] | undefined,
  problems: ConfigProblem[],
): readonly TypedColumn[] | undefined {
  if (columns === undefined || columns.length === 0) return undefined;
  return columns.flatMap(({ name, type }) => {
    const duck = duckDbType(type);
    if (duck !== undefined) return [{ name, type: duck }];
    problems.push({
      code: "PZ0301",
      message: `Column "${name}" has the unknown type "${type}"`,
      hint: "the types are int, bigint, double, decimal, varchar, boolean, date and timestamp",
    });
    return [];
  });
}

function checkFiles(spec: DatasetSpec, path: string, context: ConnectorContext): ConfigProblem | undefined {
  if (!isGlob(path)) {
    const info = statOrNothing(path);
    if (info === undefined) {
      return { code: "PZ0353", message: `There is no file "${path}" for entity "${spec.entity}"` };
    }
    if (!info.isDirectory) return undefined;
    return {
      code: "PZ0353",
      message: `"${path}" is a folder, not a file`,
      hint: `name its files with a pattern, such as path: "${spec.entity}/*.parquet"`,
    };
  }
  const files = expandGlob(path);
  if (files.length === 0) return { code: "PZ0353", message: `No file matches "${path}" for entity "${spec.entity}"` };
  const root = rootOf(spec.config, context);
  if (!root.declared || !isInside(root.path, path)) return undefined;
  const real = realPath(root.path);
  const outside = files.find((file) => !isInside(real, realPath(file)));
  if (outside === undefined) return undefined;
  return { code: "PZ0365", message: `"${outside}" is a link that leads out of the connection's root "${root.path}"` };
}

function mechanismOf({ format }: FileOptions): string {
  return format === "tsv" ? "read_csv" : `read_${format}`;
}

function fragmentOf(path: string, file: FileOptions, columns: readonly TypedColumn[] | undefined): string {
  switch (file.format) {
    case "csv":
    case "tsv":
      return csvFragment(path, file, columns);
    case "json":
      return jsonFragment(path, file, columns);
    case "parquet": {
      const read = `read_parquet(${literal(path)}${isGlob(path) ? ", union_by_name = true" : ""})`;
      return columns === undefined ? read : selectTyped(columns, read);
    }
  }
}

/** Text fields bound by header name; an unquoted empty field is NULL, a quoted one an empty text. */
function csvFragment(path: string, file: FileOptions, columns: readonly TypedColumn[] | undefined): string {
  const options = [
    `delim = ${literal(file.delimiter)}`,
    `quote = '"'`,
    `escape = '"'`,
    "header = true",
    ...(columns === undefined ? [] : ["all_varchar = true"]),
    "nullstr = ''",
    "allow_quoted_nulls = false",
    ...(isGlob(path) ? ["union_by_name = true"] : []),
  ];
  const read = `read_csv(${literal(path)}, ${options.join(", ")})`;
  return columns === undefined ? read : selectTyped(columns, read);
}

function jsonFragment(path: string, file: FileOptions, columns: readonly TypedColumn[] | undefined): string {
  const options = [`format = ${literal(file.array ? "array" : "newline_delimited")}`];
  if (isGlob(path)) options.push("union_by_name = true");
  if (columns !== undefined) {
    const types = columns.map(({ name, type }) => `${ident(name)}: ${literal(type)}`);
    options.push(`columns = {${types.join(", ")}}`);
  }
  return `read_json(${literal(path)}, ${options.join(", ")})`;
}

function selectTyped(columns: readonly TypedColumn[], read: string): string {
  const list = columns.map(({ name, type }) => `CAST(${ident(name)} AS ${type}) AS ${ident(name)}`);
  return `(SELECT ${list.join(", ")} FROM ${read})`;
}
