import { dirname } from "node:path";
import type {
  ColumnSpec,
  ConfigProblem,
  ConnectorContext,
  NativeCopy,
  NativeOutcome,
  OutputSpec,
} from "../../contract/mod.ts";
import { ident, literal } from "../../../duckdb/mod.ts";
import { selectWritable } from "./exact_columns.ts";
import type { FileOptions } from "./format.ts";
import { boundName, NULL_VALUE } from "./hive.ts";
import { realPath } from "./place.ts";
import { findTarget } from "./write_target.ts";

/**
 * The write of one output: under a temporary name in the target's folder, which then takes the place of the final one.
 * With `partition_by` the output is a folder of `column=value` folders, and a replace swaps the whole of it. Undefined for
 * such folders of JSON lines, which DuckDB does not write.
 */
export function copyToFile(spec: OutputSpec, context: ConnectorContext): NativeOutcome<NativeCopy> | undefined {
  const problems: ConfigProblem[] = [];
  const target = findTarget(spec, context, problems);
  if (target?.file.format === "json" && target.partitions !== undefined) {
    if (target.file.array !== true) return undefined;
    problems.push({ code: "PZ0361", message: `Layout "array" can't be written with "partition_by"` });
  }
  if (target === undefined || problems.length > 0) return { ok: false, problems };
  const { file, place, partitions, final, aside } = target;
  return {
    ok: true,
    value: {
      statement: copyStatement(file, aside, partitions === undefined ? undefined : { partitions, stem: place.stem }),
      setup: [],
      mechanism: "copy",
      folders: [dirname(final), ...(partitions === undefined ? [] : [aside])],
      moves: [{ from: aside, to: final }],
      target: { path: realPath(final), wholeFolder: partitions !== undefined },
    },
  };
}

/** The statement that writes one file of that path, or with partitions a folder of folders whose files begin with a stem. */
export function copyStatement(
  file: FileOptions,
  path: string,
  folders?: { readonly partitions: readonly string[]; readonly stem: string },
): NativeCopy["statement"] {
  const partitions = folders?.partitions ?? [];
  const options = folders === undefined
    ? `${copyOptions(file)}, USE_TMP_FILE false`
    : `${copyOptions(file)}, PARTITION_BY (${partitions.map(ident).join(", ")}), FILENAME_PATTERN ${
      literal(`${folders.stem}-{i}`)
    }`;
  return (relation, columns) =>
    `COPY (${distinct(selectWritable(relation, columns, file.format), columns, partitions)}) TO ${
      literal(path)
    } (${options})`;
}

/** The select with partition columns that refuse the text which names the folder of NULL: one would replace the other. */
function distinct(select: string, columns: readonly ColumnSpec[], partitions: readonly string[]): string {
  const names = columns.map(({ name }) => name);
  const texts = partitions.flatMap((partition) => {
    const column = columns.find(({ name }) => name === boundName(names, partition));
    return column !== undefined && /^(VARCHAR|ENUM)/.test(column.type) ? [ident(column.name)] : [];
  });
  if (texts.length === 0) return select;
  const message = (name: string) =>
    literal(`Column ${name} of "partition_by" holds "${NULL_VALUE}", which stands for NULL`);
  const checked = texts.map((name) =>
    `CASE WHEN CAST(${name} AS VARCHAR) = ${literal(NULL_VALUE)} THEN error(${
      message(name)
    }) ELSE ${name} END AS ${name}`
  );
  return `SELECT * REPLACE (${checked.join(", ")}) FROM (${select})`;
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
