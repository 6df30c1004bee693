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
import { fileList, type FileSet } from "./files.ts";
import { type FileOptions, parseFileOptions, show } from "./format.ts";
import { expandGlob, globBase, isGlob, statOrNothing } from "./glob.ts";
import { scanInferredCsv } from "./inferred_csv.ts";
import { manyFiles, readInferredJson, scanDeclaredJson } from "./json_scan.ts";
import { missingFileHint } from "./missing_file.ts";
import { isInside, readPlace, realPath, rootOf } from "./place.ts";

/** The scan of one dataset, or every problem that its options, its contract and the disk show. */
export function scanFiles(spec: DatasetSpec, context: ConnectorContext): NativeOutcome<NativeScan> {
  const problems: ConfigProblem[] = [];
  const options = parseFileOptions(spec.options, "read", problems);
  const columns = declaredColumns(spec, problems);
  const path = options === undefined ? undefined : readPlace(spec, options.format, context, problems);
  if (options === undefined || path === undefined || problems.length > 0) return { ok: false, problems };
  const files = findFiles(spec, path, context, problems);
  if (problems.length > 0) return { ok: false, problems };
  const base = isGlob(path) ? globBase(path) : dirname(path);
  const scan = scanOf({ files, base }, options, columns, problems);
  if (scan === undefined || problems.length > 0) return { ok: false, problems };
  const facts = {
    setup: [],
    mechanism: options.format === "tsv" ? "read_csv" : `read_${options.format}`,
    schemaInferred: columns === undefined && options.format !== "parquet",
    reads: isGlob(path) ? { files: [], folders: [base] } : { files: [path], folders: [] },
  };
  const { infer, ...rest } = scan;
  return {
    ok: true,
    value: {
      ...rest,
      ...facts,
      ...(infer === undefined ? {} : { infer: async (query) => ({ ...await infer(query), ...facts }) }),
    },
  };
}

function declaredColumns(spec: DatasetSpec, problems: ConfigProblem[]): readonly TypedColumn[] | undefined {
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
      hint: "add columns: to the read",
    });
    return new Set();
  }
  if (option === "allow") return "all";
  if (option === null || typeof option !== "object" || Array.isArray(option)) {
    problems.push({
      code: "PZ0301",
      message: `Option "lossy" is ${show(option)}: expected "allow" or a map of column names to "allow"`,
    });
    return new Set();
  }
  for (const [name, value] of Object.entries(option)) {
    if (!declared.has(name)) {
      problems.push({ code: "PZ0301", message: `Option "lossy" names "${name}", which is no declared column` });
    } else if (value !== "allow") {
      problems.push({ code: "PZ0301", message: `Option "lossy" of "${name}" is ${show(value)}: expected "allow"` });
    }
  }
  return new Set(Object.keys(option));
}

/** The files that a path names, in order; what stands against reading them is pushed as a problem. */
function findFiles(
  spec: DatasetSpec,
  path: string,
  context: ConnectorContext,
  problems: ConfigProblem[],
): readonly string[] {
  if (!isGlob(path)) {
    const info = statOrNothing(path);
    if (info === undefined) {
      problems.push({
        code: "PZ0353",
        message: `There is no file "${path}" for entity "${spec.entity}"`,
        hint: missingFileHint(path, spec.entity),
      });
    } else if (info.isDirectory) {
      problems.push({
        code: "PZ0353",
        message: `"${path}" is a folder, not a file`,
        hint: `name its files with a pattern, such as path: "${spec.entity}/*.parquet"`,
      });
    }
    return [path];
  }
  const files = expandGlob(path);
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

/** What differs from format to format. */
type Reading = Pick<NativeScan, "fragment" | "diagnose" | "rowCount"> & {
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
    case "json":
      return columns === undefined
        ? { fragment: readInferredJson(set, options.array) }
        : scanDeclaredJson(set.files, options.array, columns);
    case "parquet": {
      const read = `read_parquet(${fileList(set.files)}${manyFiles(set.files, set.base)})`;
      return columns === undefined
        ? { fragment: read, rowCount: `SELECT count(*) FROM ${read}` }
        : { fragment: selectExact(columns, read) };
    }
  }
}
