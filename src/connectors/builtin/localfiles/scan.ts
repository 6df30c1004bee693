import { dirname } from "node:path";
import type {
  ConfigProblem,
  ConnectorContext,
  DatasetSpec,
  NativeOutcome,
  NativeScan,
  QueryRows,
} from "../../contract/mod.ts";
import { selectExact, type TypedColumn, typedColumns } from "../shared/exact_cast.ts";
import { scanDeclaredCsv } from "./csv_scan.ts";
import { fileList, type FileSet, plainPattern } from "./files.ts";
import { type FileFormat, type FileOptions, parseFileOptions, show } from "./format.ts";
import { fileKind, specialProblem, statOrNothing } from "./file_kind.ts";
import { expandGlob } from "./glob.ts";
import { scanInferredCsv } from "./inferred_csv.ts";
import { detectLayout } from "./json_layout.ts";
import { manyFiles, readInferredJson, scanDeclaredJson } from "./json_scan.ts";
import { missingFileHint } from "./missing_file.ts";
import { findMissingColumn, readerTrouble } from "./reader_trouble.ts";
import { isInside, type ReadPlace, readPlace, realPath, rootOf } from "./place.ts";

/** What a dataset means: its files, how they are laid out, and the columns that are declared. */
export type FoundDataset = FileSet & {
  readonly place: ReadPlace;
  readonly options: FileOptions;
  readonly columns: readonly TypedColumn[] | undefined;
};

/** Looks for the files of a dataset; what stands against reading them is pushed, and then the result is undefined. */
export function findDataset(
  spec: DatasetSpec,
  context: ConnectorContext,
  problems: ConfigProblem[],
): FoundDataset | undefined {
  const options = parseFileOptions(spec.options, "read", problems);
  const columns = declaredColumns(spec, problems);
  const place = options === undefined ? undefined : readPlace(spec, options.format, context, problems);
  if (options === undefined || place === undefined || problems.length > 0) return undefined;
  const files = findFiles(spec, place, options.format, context, problems);
  const base = place.glob?.base ?? dirname(place.path);
  return problems.length > 0 ? undefined : { files, base, place, options, columns };
}

/** The scan of one dataset, or every problem that its options, its contract and the disk show. */
export function scanFiles(spec: DatasetSpec, context: ConnectorContext): NativeOutcome<NativeScan> {
  const problems: ConfigProblem[] = [];
  const found = findDataset(spec, context, problems);
  if (found === undefined) return { ok: false, problems };
  const scan = scanFound(found, problems);
  return scan === undefined || problems.length > 0
    ? { ok: false, problems }
    : { ok: true, value: { ...scan, reads: readsOf(found.place, found.base) } };
}

/** The scan of files that are there; what stands against it is pushed, and then the result is undefined. */
export function scanFound(
  { files, base, options, columns }: Omit<FoundDataset, "place">,
  problems: ConfigProblem[],
): NativeScan | undefined {
  const found = problems.length;
  const scan = scanOf({ files, base }, options, columns, problems);
  if (scan === undefined || problems.length > found) return undefined;
  const facts = {
    setup: [],
    mechanism: readerOf(options),
    schemaInferred: columns === undefined && options.format !== "parquet",
  };
  const { infer, ...rest } = scan;
  return {
    ...withTrouble(rest, files),
    ...facts,
    ...(infer === undefined
      ? {}
      : { infer: async (query) => ({ ...withTrouble(await infer(query), files), ...facts }) }),
  };
}

/** The function of DuckDB's that reads a format. */
export function readerOf({ format }: FileOptions): string {
  return format === "tsv" ? "read_csv" : `read_${format}`;
}

/** What a scan opens, in both forms: DuckDB compares a pattern with what it may open before it looks for files. */
export function readsOf(
  { path, glob }: ReadPlace,
  base: string,
): { readonly files: string[]; readonly folders: string[] } {
  const both = (name: string) => [...new Set([name, plainPattern(name)])];
  return glob === undefined ? { files: both(path), folders: [] } : { files: [], folders: both(base) };
}

/** The scan with a diagnosis that also knows what DuckDB says of files that it can't read. */
function withTrouble<S extends Pick<NativeScan, "diagnose">>(scan: S, files: readonly string[]): S {
  const { diagnose } = scan;
  return {
    ...scan,
    diagnose: async (query: QueryRows, message = "") =>
      readerTrouble(message, files) ?? await diagnose?.(query, message),
  };
}

/** The declared columns of a dataset with what its option `lossy` says of them; problems are pushed. */
export function declaredColumns(spec: DatasetSpec, problems: ConfigProblem[]): readonly TypedColumn[] | undefined {
  const lossy = lossyColumns(spec, new Set(spec.columns?.map(({ name }) => name)), problems);
  return typedColumns(spec.columns, (name) => lossy === "all" || lossy.has(name), problems);
}

/** The columns whose values may be rounded or cut: `lossy: allow` for all, `lossy: {<column>: allow}` for some. */
function lossyColumns(
  spec: DatasetSpec,
  declared: ReadonlySet<string>,
  problems: ConfigProblem[],
): ReadonlySet<string> | "all" {
  const option = spec.options["lossy"];
  if (option === undefined) return new Set();
  if (declared.size === 0) {
    problems.push({
      code: "PZ0301",
      message: `Option "lossy" needs declared columns`,
      option: "lossy",
      hint: "add columns: to the read",
    });
    return new Set();
  }
  if (option === "allow") return "all";
  if (option === null || typeof option !== "object" || Array.isArray(option)) {
    problems.push({
      code: "PZ0301",
      message: `Option "lossy" is ${show(option)}: expected "allow" or a map of column names to "allow"`,
      option: "lossy",
    });
    return new Set();
  }
  for (const [name, value] of Object.entries(option)) {
    if (!declared.has(name)) {
      problems.push({
        code: "PZ0301",
        message: `Option "lossy" names "${name}", which is no declared column`,
        option: "lossy",
      });
    } else if (value !== "allow") {
      problems.push({
        code: "PZ0301",
        message: `Option "lossy" of "${name}" is ${show(value)}: expected "allow"`,
        option: "lossy",
      });
    }
  }
  return new Set(Object.keys(option));
}

/** The files that a path names, in order; what stands against reading them is pushed as a problem of that path. */
function findFiles(
  spec: DatasetSpec,
  place: ReadPlace,
  format: FileFormat,
  context: ConnectorContext,
  problems: ConfigProblem[],
): readonly string[] {
  const found: ConfigProblem[] = [];
  const files = lookForFiles(spec, place, format, context, found);
  const isNamed = spec.options["path"] !== undefined;
  problems.push(...found.map((problem) => isNamed ? { ...problem, option: "path" } : problem));
  return files;
}

function lookForFiles(
  spec: DatasetSpec,
  { path, glob }: ReadPlace,
  format: FileFormat,
  context: ConnectorContext,
  problems: ConfigProblem[],
): readonly string[] {
  if (glob === undefined) {
    const kind = fileKind(path);
    const special = specialProblem(path);
    if (special !== undefined) problems.push(special);
    else if (kind === "nothing") {
      problems.push({
        code: "PZ0353",
        message: `There is no file "${path}" for entity "${spec.entity}"`,
        hint: missingFileHint(path, spec.entity),
        missingEntity: true,
      });
    } else if (kind === "folder") {
      problems.push({
        code: "PZ0353",
        message: `"${path}" is a folder, not a file`,
        hint: `name its files with a pattern, such as path: "${spec.entity}/*.parquet"`,
      });
    }
    problems.push(...emptyFiles([path], format));
    return [path];
  }
  const files = expandGlob(glob);
  problems.push(...emptyFiles(files, format));
  if (files.length === 0) {
    problems.push({ code: "PZ0353", message: `No file matches "${path}" for entity "${spec.entity}"` });
  }
  const root = rootOf(spec.config, context);
  if (root.declared && isInside(root.path, path)) {
    const real = realPath(root.path);
    const outside = files.find((file) => !isInside(real, realPath(file)));
    if (outside !== undefined) {
      problems.push({
        code: "PZ0365",
        message: `"${outside}" is a link that leads out of the connection's root "${root.path}"`,
      });
    }
  }
  return files;
}

/** A file without a byte has no header and no columns; of JSON it is one without objects. */
export function emptyFiles(files: readonly string[], format: FileFormat): ConfigProblem[] {
  if (format === "json") return [];
  const what = format === "parquet" ? "no Parquet file" : "no header";
  return files.filter((file) => statOrNothing(file)?.size === 0 && fileKind(file) === "file").slice(0, 1).map((
    file,
  ) => ({
    code: "PZ0353",
    message: `"${file}" is empty: there is ${what} in it`,
    hint: "write the file again, or take it away",
  }));
}

/** What differs from format to format. */
type Reading = Pick<NativeScan, "fragment" | "diagnose" | "rowCount" | "uncast"> & {
  readonly infer?: (query: QueryRows) => Promise<Pick<NativeScan, "fragment" | "diagnose" | "guessedDates">>;
};

function scanOf(
  set: FileSet,
  options: FileOptions,
  columns: readonly TypedColumn[] | undefined,
  problems: ConfigProblem[],
): Reading | undefined {
  switch (options.format) {
    case "csv":
    case "tsv":
      return columns === undefined
        ? scanInferredCsv(set, options.delimiter)
        : scanDeclaredCsv(set, options.delimiter, columns, problems);
    case "json": {
      const layout = options.array === undefined
        ? detectLayout(set.files)
        : options.array
        ? "array"
        : "newline_delimited";
      return columns === undefined
        ? { fragment: readInferredJson(set, layout) }
        : scanDeclaredJson(set.files, layout, columns);
    }
    case "parquet": {
      const read = `read_parquet(${fileList(set.files)}${manyFiles(set.files, set.base)})`;
      if (columns === undefined) return { fragment: read, rowCount: `SELECT count(*) FROM ${read}` };
      return {
        fragment: selectExact(columns, read),
        uncast: read,
        diagnose: (query) => findMissingColumn(query, read, set.files, columns),
      };
    }
  }
}
