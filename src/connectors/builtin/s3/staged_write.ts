import { join } from "node:path";
import type { ConfigProblem, NativeOutcome, OutputSpec, StagedWrite } from "../../contract/mod.ts";
import { copyStatement } from "../localfiles/copy.ts";
import { parseFileOptions } from "../localfiles/format.ts";
import { appendName, partitionColumns } from "../localfiles/write_target.ts";
import { readConfig } from "./config.ts";
import { nameOf, netTargets } from "./endpoint.ts";
import { writePlace } from "./place.ts";

/**
 * The write of one output: DuckDB writes it on this machine, and its files become objects. With `partition_by` the output
 * is all that stands below a prefix of its own, and a replace leaves nothing else there.
 */
export function writeStaged(spec: OutputSpec): NativeOutcome<StagedWrite> {
  const { config, problems: ofConfig } = readConfig(spec.config);
  const problems: ConfigProblem[] = [...ofConfig];
  if (spec.options["format"] === undefined) {
    problems.push({
      code: "PZ0361",
      message: `An output of 's3' needs the option "format"`,
      hint: "add format: parquet, csv, tsv or json",
    });
  }
  const file = parseFileOptions(spec.options, "write", problems);
  const partitions = partitionColumns(spec.options, problems);
  if (file?.format === "json" && partitions !== undefined) {
    problems.push({
      code: "PZ0361",
      message: `Format "json" can't be written with "partition_by"`,
      option: "partition_by",
      hint: "write parquet or csv, or leave partition_by out",
    });
  }
  const place = file === undefined || config === undefined
    ? undefined
    : writePlace(spec, file.format, config, problems);
  if (file === undefined || config === undefined || place === undefined) return { ok: false, problems };
  const { bucket, folder, stem, extension } = place;
  const root = config.root === undefined || config.root.prefix === "" ? "" : `${config.root.prefix}/`;
  if (partitions !== undefined && spec.mode === "replace" && folder === root) {
    problems.push({
      code: "PZ0353",
      message: `Cannot write partitions into "${nameOf(config.endpoint, bucket, folder)}": all of it would be replaced`,
      hint: "give the output a path of its own below the root",
    });
  }
  if (problems.length > 0) return { ok: false, problems };
  const name = spec.mode === "append" ? appendName(spec, stem) : stem;
  const single = `${folder}${name}${extension}`;
  const below = spec.mode === "append" ? `${folder}${name}/` : folder;
  const local = `output${extension}`;
  return {
    ok: true,
    value: {
      options: {
        bucket,
        format: file.format,
        array: file.array === true,
        ...(partitions === undefined ? { key: single } : { prefix: below, clear: spec.mode === "replace" }),
      },
      net: netTargets(config.endpoint, [bucket]),
      mechanism: "copy",
      copy: (into) =>
        partitions === undefined
          ? { statement: copyStatement(file, join(into, local)), file: local }
          : { statement: copyStatement(file, into, { partitions, stem }) },
      target: {
        path: nameOf(config.endpoint, bucket, partitions === undefined ? single : below.slice(0, -1)),
        wholeFolder: partitions !== undefined,
      },
    },
  };
}
