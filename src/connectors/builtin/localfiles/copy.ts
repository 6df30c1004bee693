import { join } from "node:path";
import type { ConfigProblem, ConnectorContext, NativeCopy, NativeOutcome, OutputSpec } from "../../contract/mod.ts";
import { literal } from "../../../duckdb/mod.ts";
import { type FileOptions, parseFileOptions } from "./format.ts";
import { statOrNothing } from "./glob.ts";
import { type WritePlace, writePlace } from "./place.ts";

/**
 * The write of one output: into a temporary file of the target's folder, which then takes the place of the final one.
 * An append adds a file of its own, whose name derives from node and run, so that a repeated write replaces its file.
 */
export function copyToFile(spec: OutputSpec, context: ConnectorContext): NativeOutcome<NativeCopy> {
  const problems: ConfigProblem[] = [];
  const file = parseFileOptions(spec.options, "write", problems);
  const place = file === undefined ? undefined : writePlace(spec, file.format, context, problems);
  if (file === undefined || place === undefined || problems.length > 0) return { ok: false, problems };
  const blocked = checkTarget(place);
  if (blocked !== undefined) return { ok: false, problems: [blocked] };
  const name = spec.mode === "append"
    ? `${place.stem}-${spec.attempt.node.slice(0, 8)}-${spec.attempt.run}${place.extension}`
    : `${place.stem}${place.extension}`;
  const final = join(place.folder, name);
  const aside = join(place.folder, `.${name}.${spec.attempt.run}-${spec.attempt.ordinal}.tmp`);
  return {
    ok: true,
    value: {
      statement: (relation) => `COPY (SELECT * FROM ${relation}) TO ${literal(aside)} (${copyOptions(file)})`,
      setup: [],
      mechanism: "copy",
      folders: [place.folder],
      moves: [{ from: aside, to: final }],
    },
  };
}

function checkTarget(place: WritePlace): ConfigProblem | undefined {
  const folder = statOrNothing(place.folder);
  if (folder !== undefined && !folder.isDirectory) {
    return { code: "PZ0353", message: `Cannot write into "${place.folder}": it is a file, and a folder is needed` };
  }
  const target = join(place.folder, `${place.stem}${place.extension}`);
  if (statOrNothing(target)?.isDirectory) {
    return { code: "PZ0353", message: `Cannot write "${target}": it is a folder` };
  }
  return undefined;
}

function copyOptions(file: FileOptions): string {
  switch (file.format) {
    case "csv":
    case "tsv":
      return `FORMAT csv, HEADER true, DELIMITER ${literal(file.delimiter)}, USE_TMP_FILE false`;
    case "json":
      return `FORMAT json, ARRAY ${file.array}, USE_TMP_FILE false`;
    case "parquet":
      return "FORMAT parquet, USE_TMP_FILE false";
  }
}
