import { ident } from "../../../duckdb/mod.ts";
import type { ConfigProblem, ConnectorContext, DatasetSpec, NativeOutcome, UniversalRead } from "../../contract/mod.ts";
import { selectChecked } from "../shared/checked_cast.ts";
import type { TypedColumn } from "../shared/exact_cast.ts";
import { findMissing } from "./csv_scan.ts";
import { diagnose, type Probe } from "./diagnosis.ts";
import { groupCsv } from "./files.ts";
import type { FileOptions } from "./format.ts";
import { outsideRoot } from "./outside_root.ts";
import { findDataset, type FoundDataset, readsOf } from "./scan.ts";

/** A place is the number of the file and, in as many low bits, the line. */
const LINE_BITS = 32;
const MAX_DEFAULT_PARTITIONS = 16;

/**
 * The read of one dataset through the connector's process, which gives every column as text and the place of each row;
 * the contract's types come from the same checked casts as those of DuckDB's own scan.
 */
export function readThroughProcess(spec: DatasetSpec, context: ConnectorContext): NativeOutcome<UniversalRead> {
  const problems: ConfigProblem[] = [];
  const found = findDataset(spec, context, problems);
  if (found === undefined) return { ok: false, problems };
  const { columns, options: { format, delimiter } } = found;
  problems.push(...nativeOnly(found.options));
  if (problems.length === 0 && columns === undefined) {
    problems.push({
      code: "PZ0353",
      message: `Format "${format}" needs declared columns to be read without DuckDB's own reader`,
      hint: "add columns: to the read, or remove engine.force_universal",
    });
  }
  if (columns === undefined || problems.length > 0) return { ok: false, problems };
  const groups = groupCsv(found, delimiter);
  const unclear = groups.find(({ header }) => header === undefined)?.files[0] ?? compressed(found.files);
  if (unclear !== undefined) return { ok: false, problems: [unclearHeader(unclear)] };
  problems.push(...findMissing(groups, columns));
  return problems.length > 0
    ? { ok: false, problems }
    : { ok: true, value: universalRead(spec, found, columns, context) };
}

function universalRead(
  spec: DatasetSpec,
  found: FoundDataset,
  columns: readonly TypedColumn[],
  context: ConnectorContext,
): UniversalRead {
  const { files, base, place: { glob, path }, options: { format, delimiter } } = found;
  const filesPerPartition = Number(
    spec.options["files_per_partition"] ?? Math.ceil(files.length / MAX_DEFAULT_PARTITIONS),
  );
  const place = placeColumn(columns);
  const isTyped = columns.some(({ type, mark }) => type !== "VARCHAR" || mark !== undefined);
  const touched = [...(glob === undefined ? [path] : [base]), ...files];
  return {
    options: {
      format,
      delimiter,
      files,
      base,
      files_per_partition: filesPerPartition,
      ...(isTyped ? { place } : {}),
    },
    grant: { read: outsideRoot(touched, spec.config, context), write: [] },
    reads: readsOf(found.place, base),
    partitions: Math.ceil(files.length / filesPerPartition),
    contract: (relation) => selectChecked(columns, columns.map(({ name }) => ident(name)), relation),
    ...(isTyped ? { diagnose: (query, relation) => diagnose(query, [probeOf(relation, place, files)], columns) } : {}),
  };
}

/** Looks for a value among the texts that the process has given. */
function probeOf(relation: string, place: string, files: readonly string[]): Probe {
  const number = `(${ident(place)} >> ${LINE_BITS})`;
  const list = `[${files.map((file) => `'${file.replaceAll("'", "''")}'`).join(", ")}]`;
  const texts = (columns: readonly TypedColumn[]) =>
    columns.map(({ name }, index) => `${ident(name)} AS t${index}`).join(", ");
  return {
    all: (columns) => `(SELECT ${list}[${number} + 1] AS filename, ${texts(columns)} FROM ${relation})`,
    one: (file, columns) =>
      `(SELECT ${ident(place)} & ${2 ** LINE_BITS - 1} AS n, ${texts(columns)} FROM ${relation} ` +
      `WHERE ${number} = ${files.indexOf(file)})`,
    lineOf: (_file, line) => Promise.resolve(Number(line)),
  };
}

/** A name that no column of the contract has. */
function placeColumn(columns: readonly TypedColumn[]): string {
  let name = "pz_place";
  while (columns.some((column) => column.name.toLowerCase() === name)) name += "_";
  return name;
}

function nativeOnly({ format, array }: FileOptions): ConfigProblem[] {
  if (format === "csv" || format === "tsv") return [];
  const layout = array === true ? ` with layout "array"` : "";
  return [{
    code: "PZ0361",
    message: `Format "${format}"${layout} can only be read by DuckDB itself`,
    hint: "remove engine.force_universal, or read csv or tsv",
  }];
}

function compressed(files: readonly string[]): string | undefined {
  return files.find((file) => /\.(gz|zst)$/i.test(file));
}

function unclearHeader(file: string): ConfigProblem {
  return {
    code: "PZ0353",
    message:
      `"${file}" can only be read by DuckDB itself: it is compressed, or its first line is no plain list of names`,
    hint: "remove engine.force_universal, or correct the file",
  };
}
