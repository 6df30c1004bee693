import { dirname } from "node:path";
import type { ConfigProblem, ConnectorContext, NativeOutcome, OutputSpec, UniversalWrite } from "../../contract/mod.ts";
import { outermostMissing, outsideRoot } from "./outside_root.ts";
import { realPath } from "./place.ts";
import { findTarget } from "./write_target.ts";

/** The write of one output by the connector's process, to the same place and by the same names as DuckDB's own. */
export function writeThroughProcess(spec: OutputSpec, context: ConnectorContext): NativeOutcome<UniversalWrite> {
  const problems: ConfigProblem[] = [];
  const target = findTarget(spec, context, problems);
  if (target?.file.format === "parquet" || target?.file.array === true) {
    problems.push({
      code: "PZ0361",
      message: target.file.array === true
        ? `Layout "array" can only be written by DuckDB itself`
        : `Format "parquet" can only be written by DuckDB itself`,
      hint: "remove engine.force_universal, or write csv, tsv or json with one object a line",
    });
  }
  if (target === undefined || problems.length > 0) return { ok: false, problems };
  const { file, place, partitions, final, aside } = target;
  const folder = dirname(final);
  const missing = outermostMissing(folder);
  const outside = outsideRoot([folder, missing], spec.config, context);
  return {
    ok: true,
    value: {
      options: {
        format: file.format,
        delimiter: file.delimiter,
        final,
        aside,
        ...(partitions === undefined ? {} : { partition_by: partitions, file: `${place.stem}-0${place.extension}` }),
      },
      grant: { read: outside, write: outside },
      moves: [{ from: aside, to: final }],
      target: { path: realPath(final), wholeFolder: partitions !== undefined },
    },
  };
}
