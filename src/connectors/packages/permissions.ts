import { resolve } from "node:path";
import { nearMiss } from "../../util/mod.ts";
import type { ConfigMap, ConfigValue, Grant } from "../contract/mod.ts";
import type { ManifestReader } from "./manifest_reader.ts";

/**
 * What a package asks for: texts in which `{option}` stands for an option of the connection. `net` gives `host:port`, or
 * is one option that holds a URL; `read` and `write` are one option that holds a path; `env` is a variable's name.
 */
export type Permissions = {
  readonly net: readonly string[];
  readonly read: readonly string[];
  readonly write: readonly string[];
  readonly env: readonly string[];
};

const KINDS = ["net", "read", "write", "env"] as const;
const ONE_OPTION = /^\{([^{}]+)\}$/;
const DEFAULT_PORTS: { readonly [protocol: string]: string } = {
  "http:": "80",
  "https:": "443",
  "ws:": "80",
  "wss:": "443",
};

/** Reads `permissions` of a manifest. */
export function readPermissions(reader: ManifestReader): Permissions {
  const object = reader.object("permissions");
  const inner = object === undefined ? undefined : reader.within("permissions", object);
  inner?.closed(KINDS);
  const options = Object.keys(optionsOf(reader));
  const entries = (kind: typeof KINDS[number]) => {
    const list = inner?.list(kind) ?? [];
    for (const entry of list) {
      const problem = problemOf(kind, entry, options);
      if (problem !== undefined) {
        reader.problem("PZ0306", `"permissions.${kind}" has "${entry}": ${problem.what}`, problem.hint);
      }
    }
    return list;
  };
  return { net: entries("net"), read: entries("read"), write: entries("write"), env: entries("env") };
}

function optionsOf(reader: ManifestReader): ConfigMap {
  const connection = reader.value("connection");
  const properties = isMap(connection) ? connection["properties"] : undefined;
  return isMap(properties) ? properties : {};
}

type Problem = { readonly what: string; readonly hint: string | undefined };

function problemOf(kind: typeof KINDS[number], entry: string, options: readonly string[]): Problem | undefined {
  for (const [, name] of entry.matchAll(/\{([^{}]*)\}/g)) {
    if (name !== undefined && options.includes(name)) continue;
    const meant = nearMiss(name ?? "", options);
    return {
      what: `the connection has no option "${name}"`,
      hint: meant === undefined ? `declare it in "connection.properties"` : `did you mean {${meant}}?`,
    };
  }
  const rest = entry.replaceAll(/\{[^{}]*\}/g, "x");
  if (/[{}]/.test(rest)) return { what: "a brace that stands alone", hint: "write {option}" };
  if ((kind === "read" || kind === "write") && !ONE_OPTION.test(entry)) {
    return { what: "expected one option that holds a path", hint: "such as {path}" };
  }
  if (kind === "net" && !ONE_OPTION.test(entry) && !/^[^\s:/]+:(?:x|\d{1,5})$/.test(rest)) {
    return { what: "expected a host and a port", hint: "such as {host}:{port}, or {url}" };
  }
  if (kind === "env" && !/^[A-Za-z_][A-Za-z0-9_]*$/.test(rest)) {
    return { what: "expected the name of a variable", hint: "such as ACME_TOKEN" };
  }
  return undefined;
}

/**
 * What a connection with these options, defaults filled in, may touch. An entry whose option is missing, or holds nothing
 * that the entry can be made of, grants nothing.
 *
 * @param projectRoot what relative paths are relative to
 */
export function grantOf(permissions: Permissions, config: ConfigMap, projectRoot: string): Grant {
  const each = (entries: readonly string[]) => [...new Set(entries.flatMap((entry) => filled(entry, config)))];
  const paths = (entries: readonly string[]) => each(entries).map((path) => resolve(projectRoot, path));
  return {
    net: each(permissions.net).flatMap(targetOf),
    read: paths(permissions.read),
    write: paths(permissions.write),
    env: each(permissions.env).filter((name) => /^[A-Za-z_][A-Za-z0-9_]*$/.test(name)),
  };
}

/** The names of options that hold paths: a project's relative ones are made absolute for the connector. */
export function pathOptions({ read, write }: Permissions): readonly string[] {
  return [...new Set([...read, ...write].flatMap((entry) => ONE_OPTION.exec(entry)?.[1] ?? []))];
}

/** The texts that an entry stands for: several for an option that holds a list, none where an option is missing. */
function filled(entry: string, config: ConfigMap): readonly string[] {
  const one = ONE_OPTION.exec(entry)?.[1];
  if (one !== undefined) return textsOf(config[one]);
  let isWhole = true;
  const text = entry.replaceAll(/\{([^{}]*)\}/g, (_, name: string) => {
    const [value, ...more] = textsOf(config[name]);
    if (value === undefined || more.length > 0) isWhole = false;
    return value ?? "";
  });
  return isWhole ? [text] : [];
}

function textsOf(value: ConfigValue | undefined): readonly string[] {
  if (value === undefined || value === null) return [];
  if (Array.isArray(value)) return value.flatMap(textsOf);
  return typeof value === "object" || value === "" ? [] : [String(value)];
}

/** A host and port as they are, or those of a URL. */
function targetOf(text: string): readonly string[] {
  const colon = text.lastIndexOf(":");
  const [host, port] = [text.slice(0, colon), text.slice(colon + 1)];
  if (/^\d{1,5}$/.test(port) && Number(port) <= 65_535) {
    if (/^(?:\[[0-9A-Fa-f:.]+\]|[^\s:/@[\]]+)$/.test(host)) return [text];
    if (/^[0-9A-Fa-f.]*:[0-9A-Fa-f:.]*$/.test(host)) return [`[${host}]:${port}`];
  }
  if (!URL.canParse(text)) return [];
  const url = new URL(text);
  const used = url.port === "" ? DEFAULT_PORTS[url.protocol] : url.port;
  return url.hostname === "" || used === undefined ? [] : [`${url.hostname}:${used}`];
}

function isMap(value: unknown): value is ConfigMap {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
