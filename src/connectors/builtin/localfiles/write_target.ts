import { basename, dirname, join } from "node:path";
import type { ConfigMap, ConfigProblem, ConnectorContext, OutputSpec } from "../../contract/mod.ts";
import { type FileOptions, parseFileOptions, show } from "./format.ts";
import { fileKind, specialProblem, statOrNothing } from "./file_kind.ts";
import { longName, rootOf, type WritePlace, writePlace } from "./place.ts";

/**
 * The longest name of an output in bytes: systems take 255, of which node, run and attempt are part until it is complete,
 * and of an append node and run for good.
 */
const MOST_BYTES: { readonly [mode in OutputSpec["mode"]]: number } = { replace: 190, append: 160, merge: 190 };

/** Where one write goes and how its files are laid out, after every check. */
export type WriteTarget = {
  readonly file: FileOptions;
  readonly place: WritePlace;
  /** The columns whose values name folders, where the output is a folder of such. */
  readonly partitions: readonly string[] | undefined;
  /** The file, or the folder, that the write makes or replaces. */
  readonly final: string;
  /** The name that it has until it is complete, in the same folder. */
  readonly aside: string;
};

/**
 * The target of a write; problems are pushed, and then the result is undefined. An append adds a file or a folder of its
 * own, whose name derives from node and first run, so that a repeated write replaces its own.
 */
export function findTarget(
  spec: OutputSpec,
  context: ConnectorContext,
  problems: ConfigProblem[],
): WriteTarget | undefined {
  const file = parseFileOptions(spec.options, "write", problems);
  const partitions = partitionColumns(spec.options, problems);
  const place = file === undefined ? undefined : writePlace(spec, file.format, context, problems);
  if (file === undefined || place === undefined || problems.length > 0) return undefined;
  const name = partitions === undefined ? `${place.stem}${place.extension}` : basename(place.folder);
  const long = longName(name, MOST_BYTES[spec.mode]);
  if (long !== undefined) {
    problems.push(long);
    return undefined;
  }
  const final = partitions === undefined ? finalFile(spec, place) : finalFolder(spec, place);
  const blocked = partitions === undefined
    ? checkFile(place, final)
    : checkFolder(place, final, rootOf(spec.config, context).path);
  if (blocked !== undefined) {
    problems.push(blocked);
    return undefined;
  }
  const { node, run, ordinal } = spec.attempt;
  const aside = join(dirname(final), `.${basename(final)}.${node.slice(0, 8)}-${run}-${ordinal}.tmp`);
  return { file, place, partitions, final, aside };
}

/** The columns that `partition_by` names; undefined where there are none, or where a problem was pushed. */
export function partitionColumns(options: ConfigMap, problems: ConfigProblem[]): readonly string[] | undefined {
  const option = options["partition_by"];
  if (option === undefined) return undefined;
  const names: readonly unknown[] = Array.isArray(option) ? option : [option];
  const columns = names.filter((name) => typeof name === "string" && name !== "").map(String);
  if (columns.length === names.length && columns.length > 0 && new Set(columns).size === columns.length) return columns;
  problems.push({
    code: "PZ0301",
    message: `Option "partition_by" is ${show(option)}: expected a column name or a list of different ones`,
    option: "partition_by",
  });
  return undefined;
}

/** What one append adds, without an extension: named by the first run that tried it. */
export function appendName({ attempt }: OutputSpec, stem: string): string {
  return `${stem}-${attempt.node.slice(0, 8)}-${attempt.prior?.[0]?.run ?? attempt.run}`;
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
