import { basename, dirname, isAbsolute, join, relative, resolve } from "node:path";
import type { ConfigMap, ConfigProblem, ConnectorContext } from "../../contract/mod.ts";
import { type FileFormat, show } from "./format.ts";
import { findGlob, type Glob, isGlob } from "./glob.ts";

/** The folder of a connection, absolute, and whether the user declared it. */
export function rootOf(
  config: ConfigMap,
  context: ConnectorContext,
): { readonly path: string; readonly declared: boolean } {
  const root = config["root"];
  return typeof root === "string" && root !== ""
    ? { path: resolve(context.projectRoot, root), declared: true }
    : { path: resolve(context.projectRoot), declared: false };
}

/** Where a write goes: the folder, and the name and extension of its files. */
export type WritePlace = { readonly folder: string; readonly stem: string; readonly extension: string };

type Request = {
  readonly entity: string;
  readonly config: ConfigMap;
  readonly options: ConfigMap;
};

/** What a read means: one absolute path, or the pattern that it holds. */
export type ReadPlace = { readonly path: string; readonly glob: Glob | undefined };

/** The place that a read means; problems are pushed, and then the result is undefined. */
export function readPlace(
  request: Request,
  format: FileFormat,
  context: ConnectorContext,
  problems: ConfigProblem[],
): ReadPlace | undefined {
  const option = pathOption(request, problems);
  if (option === "bad") return undefined;
  const text = option ?? `${request.entity}.${format}`;
  const path = contained(text, request.config, context, problems);
  return path === undefined ? undefined : { path, glob: findGlob(text, rootOf(request.config, context).path) };
}

/**
 * The absolute place of a write. A `path` with the format's extension names the file itself, any other path the folder
 * that holds `<entity>.<format>`.
 */
export function writePlace(
  request: Request,
  format: FileFormat,
  context: ConnectorContext,
  problems: ConfigProblem[],
): WritePlace | undefined {
  const path = pathOption(request, problems);
  if (path === "bad") return undefined;
  if (path !== undefined && isGlob(path)) {
    problems.push({
      code: "PZ0301",
      message: `Option "path" is ${show(path)}: a write takes no wildcards`,
      option: "path",
    });
    return undefined;
  }
  const extension = `.${format}`;
  const target = contained(path ?? request.entity, request.config, context, problems);
  if (target === undefined) return undefined;
  return path !== undefined && path.toLowerCase().endsWith(extension) && basename(path) !== extension
    ? { folder: dirname(target), stem: basename(target).slice(0, -extension.length), extension }
    : { folder: target, stem: basename(request.entity), extension };
}

function pathOption(request: Request, problems: ConfigProblem[]): string | undefined | "bad" {
  const path = request.options["path"];
  if (path === undefined) return undefined;
  if (typeof path === "string" && path.trim() !== "" && !path.includes("\0")) return path;
  problems.push({ code: "PZ0301", message: `Option "path" is ${show(path)}: expected a path`, option: "path" });
  return "bad";
}

function contained(
  path: string,
  config: ConfigMap,
  context: ConnectorContext,
  problems: ConfigProblem[],
): string | undefined {
  const declared = config["root"];
  if (declared !== undefined && (typeof declared !== "string" || declared === "" || declared.includes("\0"))) {
    const typed = typeof declared !== "string" && typeof declared !== "object";
    const hint = typed ? { hint: `put it in quotes, as in root: "\${NAME}", to keep it a text` } : {};
    problems.push({
      code: "PZ0301",
      message: `Setting "root" is ${show(declared)}: expected a folder`,
      setting: "root",
      ...hint,
    });
    return undefined;
  }
  if (path.includes("\0")) {
    problems.push({ code: "PZ0301", message: `${show(path)} is not a path` });
    return undefined;
  }
  const root = rootOf(config, context);
  const target = resolve(root.path, path);
  const long = isGlob(path) ? [] : target.split(/[/\\]/).flatMap((name) => longName(name) ?? []);
  if (long[0] !== undefined) {
    problems.push(long[0]);
    return undefined;
  }
  if (isAbsolute(path)) return target;
  if (root.declared && escapes(root.path, target, findGlob(path, root.path)?.base ?? target)) {
    problems.push({
      code: "PZ0365",
      message: `Path "${path}" leads out of the connection's root "${root.path}"`,
      hint: "keep it inside the root, or give an absolute path",
    });
    return undefined;
  }
  return target;
}

/** The longest name of a file or folder that systems take. */
const MAX_NAME_BYTES = 255;

/** What is wrong with a name of a file or folder that is too long; only its beginning is told. */
export function longName(name: string, most = MAX_NAME_BYTES): ConfigProblem | undefined {
  const bytes = new TextEncoder().encode(name).length;
  if (bytes <= most) return undefined;
  return {
    code: "PZ0353",
    message: `The file name "${[...name].slice(0, 40).join("")}…" has ${bytes} bytes: expected at most ${most}`,
    hint: "give a shorter name, or another one as path:",
  };
}

/** `fixed` is the part of the target that is no pattern. */
function escapes(root: string, target: string, fixed: string): boolean {
  if (!isInside(root, target)) return true;
  return !isInside(realPath(root), realPath(fixed));
}

/** Whether a path is a folder or stands inside it, by their texts alone. */
export function isInside(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way === "" || (way !== ".." && !way.startsWith("../") && !way.startsWith("..\\") && !isAbsolute(way));
}

/** Why a path can't be resolved as a whole; its folder then may. */
const UNRESOLVED = [
  Deno.errors.NotFound,
  Deno.errors.NotADirectory,
  Deno.errors.FilesystemLoop,
  Deno.errors.NotCapable,
  Deno.errors.PermissionDenied,
];

/** The path with the links of its existing part resolved. */
export function realPath(path: string): string {
  try {
    return Deno.realPathSync(path);
  } catch (error) {
    if (!UNRESOLVED.some((kind) => error instanceof kind)) throw error;
    const parent = dirname(path);
    return parent === path ? path : join(realPath(parent), basename(path));
  }
}
