import type { ConfigMap, ConfigProblem, DatasetSpec } from "../../contract/mod.ts";
import type { FileFormat } from "../localfiles/format.ts";
import { isGlob } from "../localfiles/glob.ts";
import { isBucket, type S3Config } from "./config.ts";

/** A bucket and a key in it, or what keys begin with. */
export type Place = { readonly bucket: string; readonly key: string };

type Request = Pick<DatasetSpec, "entity" | "options">;

/** What a read means: the bucket, what all keys begin with however it looks, and behind that a key or a pattern. */
export type ReadPlace = { readonly bucket: string; readonly prefix: string; readonly path: string };

/** The place that a read means; problems are pushed, and then the result is undefined. */
export function readPlace(
  request: Request,
  format: FileFormat,
  config: S3Config,
  problems: ConfigProblem[],
): ReadPlace | undefined {
  const base = baseOf(request.options, config, problems);
  const path = pathOf(request, `${request.entity}.${format}`, problems);
  if (base === undefined || path === undefined || path === "") {
    if (path === "") {
      problems.push({ code: "PZ0301", message: `Option "path" is empty: expected a key`, option: "path" });
    }
    return undefined;
  }
  return { bucket: base.bucket, prefix: base.key, path };
}

/** Where a write goes: what its keys begin with, and the name and extension of its objects. */
export type WritePlace = {
  readonly bucket: string;
  /** Ends with a slash, or is empty. */
  readonly folder: string;
  readonly stem: string;
  readonly extension: string;
};

/**
 * The place of a write. A `path` with the format's extension names the object itself, any other path the prefix that
 * `<entity>.<format>` stands below.
 */
export function writePlace(
  request: Request,
  format: FileFormat,
  config: S3Config,
  problems: ConfigProblem[],
): WritePlace | undefined {
  const base = baseOf(request.options, config, problems);
  const given = request.options["path"] !== undefined;
  const path = pathOf(request, request.entity, problems)?.replace(/\/$/, "");
  if (base === undefined || path === undefined) return undefined;
  if (given && isGlob(path)) {
    const message = `Option "path" is ${JSON.stringify(path)}: a write takes no wildcards`;
    problems.push({ code: "PZ0301", message, option: "path" });
    return undefined;
  }
  const extension = `.${format}`;
  const at = path.lastIndexOf("/") + 1;
  const last = path.slice(at);
  const entity = request.entity.slice(request.entity.lastIndexOf("/") + 1);
  const names = given && last.toLowerCase().endsWith(extension) && last.length > extension.length;
  return names
    ? { bucket: base.bucket, folder: base.key + path.slice(0, at), stem: last.slice(0, -extension.length), extension }
    : { bucket: base.bucket, folder: path === "" ? base.key : `${base.key}${path}/`, stem: entity, extension };
}

/** The bucket, and what stands before every path. */
function baseOf(options: ConfigMap, { root }: S3Config, problems: ConfigProblem[]): Place | undefined {
  const option = options["bucket"];
  const prefix = root === undefined || root.prefix === "" ? "" : `${root.prefix}/`;
  if (option === undefined) {
    if (root !== undefined) return { bucket: root.bucket, key: prefix };
    problems.push({
      code: "PZ0301",
      message: `There is no bucket: neither the connection's root nor the option "bucket" names one`,
      hint: "add root: <bucket> to the connection, or bucket: <bucket> here",
    });
    return undefined;
  }
  if (typeof option !== "string" || !isBucket(option)) {
    problems.push({ code: "PZ0301", message: `Option "bucket" is no name of a bucket`, option: "bucket" });
    return undefined;
  }
  if (root !== undefined && root.bucket !== option) {
    problems.push({
      code: "PZ0365",
      message: `Bucket "${option}" leads out of the connection's root "${root.bucket}"`,
      option: "bucket",
      hint: "leave bucket out, or use a connection without a root",
    });
    return undefined;
  }
  return { bucket: option, key: prefix };
}

function pathOf({ options }: Request, otherwise: string, problems: ConfigProblem[]): string | undefined {
  const given = options["path"];
  const option = given === undefined ? {} : { option: "path" };
  const path = given ?? otherwise;
  if (typeof path !== "string" || path.includes("\0")) {
    problems.push({ code: "PZ0301", message: `Option "path" is no text: expected a key`, ...option });
    return undefined;
  }
  if (path.startsWith("s3://") || path.startsWith("/")) {
    const hint = "keys stand alone, without a slash in front; the bucket comes from root: or bucket:";
    problems.push({ code: "PZ0301", message: `${JSON.stringify(path)} is no key of an object`, ...option, hint });
    return undefined;
  }
  if (path.split("/").some((part) => part === "." || part === "..")) {
    const hint = "keys have no parts that are . or ..";
    problems.push({ code: "PZ0365", message: `Path "${path}" leads out of the connection's root`, ...option, hint });
    return undefined;
  }
  if (new TextEncoder().encode(path).length > MAX_KEY_BYTES) {
    problems.push({ code: "PZ0301", message: `A path of more than ${MAX_KEY_BYTES} bytes is no key`, ...option });
    return undefined;
  }
  return path;
}

const MAX_KEY_BYTES = 1024;
