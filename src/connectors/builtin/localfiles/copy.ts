import { basename, dirname, join } from "node:path";
import type {
  ConfigMap,
  ConfigProblem,
  ConnectorContext,
  NativeCopy,
  NativeOutcome,
  OutputSpec,
} from "../../contract/mod.ts";
import { ident, literal } from "../../../duckdb/mod.ts";
import { selectWritable } from "./exact_columns.ts";
import { type FileOptions, parseFileOptions, show } from "./format.ts";
import { fileKind, specialProblem, statOrNothing } from "./file_kind.ts";
import { realPath, rootOf, type WritePlace, writePlace } from "./place.ts";

/**
 * The write of one output: under a temporary name in the target's folder, which then takes the place of the final one.
 * An append adds a file or a folder of its own, whose name derives from node and run, so that a repeated write replaces
 * its own. With `partition_by` the output is a folder of `column=value` folders, and a replace swaps the whole of it.
 */
export function copyToFile(spec: OutputSpec, context: ConnectorContext): NativeOutcome<NativeCopy> {
  const problems: ConfigProblem[] = [];
  const file = parseFileOptions(spec.options, "write", problems);
  const partitions = partitionColumns(spec.options, problems);
  if (file?.format === "json" && partitions !== undefined) {
    problems.push({ code: "PZ0361", message: `Format "json" can't be written with "partition_by"` });
  }
  const place = file === undefined ? undefined : writePlace(spec, file.format, context, problems);
  if (file === undefined || place === undefined || problems.length > 0) return { ok: false, problems };
  const final = partitions === undefined ? finalFile(spec, place) : finalFolder(spec, place);
  const blocked = partitions === undefined
    ? checkFile(place, final)
    : checkFolder(place, final, rootOf(spec.config, context).path);
  if (blocked !== undefined) return { ok: false, problems: [blocked] };
  const aside = join(dirname(final), `.${basename(final)}.${attemptName(spec)}-${spec.attempt.ordinal}.tmp`);
  const options = partitions === undefined
    ? `${copyOptions(file)}, USE_TMP_FILE false`
    : `${copyOptions(file)}, PARTITION_BY (${partitions.map(ident).join(", ")}), FILENAME_PATTERN ${
      literal(`${place.stem}-{i}`)
    }`;
  return {
    ok: true,
    value: {
      statement: (relation, columns) =>
        `COPY (${selectWritable(relation, columns, file.format)}) TO ${literal(aside)} (${options})`,
      setup: [],
      mechanism: "copy",
      folders: [dirname(final), ...(partitions === undefined ? [] : [aside])],
      moves: [{ from: aside, to: final }],
      target: { path: realPath(final), wholeFolder: partitions !== undefined },
    },
  };
}

function partitionColumns(options: ConfigMap, problems: ConfigProblem[]): readonly string[] | undefined {
  const option = options["partition_by"];
  if (option === undefined) return undefined;
  const names: readonly unknown[] = Array.isArray(option) ? option : [option];
  const columns = names.filter((name) => typeof name === "string" && name !== "").map(String);
  if (columns.length === names.length && columns.length > 0 && new Set(columns).size === columns.length) return columns;
  problems.push({
    code: "PZ0301",
    message: `Option "partition_by" is ${show(option)}: expected a column name or a list of different ones`,
  });
  return undefined;
}

/** What one append adds, without an extension. */
function appendName(spec: OutputSpec, stem: string): string {
  return `${stem}-${attemptName(spec)}`;
}

function attemptName({ attempt }: OutputSpec): string {
  return `${attempt.node.slice(0, 8)}-${attempt.run}`;
}

function finalFile(spec: OutputSpec, place: WritePlace): string {
  const name = spec.mode === "append" ? appendName(spec, place.stem) : place.stem;
  return join(place.folder, `${name}${place.extension}`);
}

function finalFolder(spec: OutputSpec, place: WritePlace): string {
  return spec.mode === "append" ? join(place.folder, appendName(spec, place.stem)) : place.folder;
}

function checkFile(place: WritePlace, final: string): ConfigProblem | undefined {
  const folder = statOrNothing(place.folder);
  if (folder !== undefined && !folder.isDirectory) return blockedByFile(place.folder);
  const stands = statOrNothing(final);
  if (stands?.isDirectory) return { code: "PZ0353", message: `Cannot write "${final}": it is a folder` };
  return overwriteProblem(final);
}

function checkFolder(place: WritePlace, final: string, root: string): ConfigProblem | undefined {
  if (final === root || dirname(final) === final) {
    return {
      code: "PZ0353",
      message: `Cannot write partitions into "${final}": the whole folder would be replaced`,
      hint: "give the output a path of its own below the root",
    };
  }
  const folder = statOrNothing(place.folder);
  return folder !== undefined && !folder.isDirectory ? blockedByFile(place.folder) : undefined;
}

/** A link that leads nowhere is replaced like a file. */
function overwriteProblem(path: string): ConfigProblem | undefined {
  return ["special", "denied"].includes(fileKind(path)) ? specialProblem(path) : undefined;
}

function blockedByFile(folder: string): ConfigProblem {
  return { code: "PZ0353", message: `Cannot write into "${folder}": it is a file, and a folder is needed` };
}

function copyOptions(file: FileOptions): string {
  switch (file.format) {
    case "csv":
    case "tsv":
      return `FORMAT csv, HEADER true, DELIMITER ${literal(file.delimiter)}`;
    case "json":
      return `FORMAT json, ARRAY ${file.array ?? false}`;
    case "parquet":
      return "FORMAT parquet";
  }
}
