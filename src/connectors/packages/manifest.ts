import { PzError } from "../../errors/mod.ts";
import { nearMiss } from "../../util/mod.ts";
import { CAPABILITIES, type Capability, type ConfigMap } from "../contract/mod.ts";
import { PROTOCOL_MAJOR } from "../protocol/messages.ts";
import { ManifestReader } from "./manifest_reader.ts";
import { isPackagePath } from "./package_path.ts";
import { type Permissions, readPermissions } from "./permissions.ts";

/** The name of the file that makes a folder a package. */
export const MANIFEST_FILE = "pz.connector.json";

/** The options of one side, as a JSON Schema of an object whose `properties` are all that there are. */
export type OptionsSchema = {
  readonly properties: { readonly [name: string]: ConfigMap };
  readonly required: readonly string[];
  /** The whole schema. */
  readonly schema: ConfigMap;
};

/** What of a package runs: one module in the sandbox, or a program of its own for each platform. */
export type PackageRuntime =
  | { readonly kind: "deno"; readonly entry: string }
  | { readonly kind: "process"; readonly entrypoints: { readonly [platform: string]: string } };

/** All that `pz.connector.json` says of a package. */
export type PackageManifest = {
  /** The connector's name, as `connector:` of a connection has it. */
  readonly name: string;
  readonly version: string;
  readonly runtime: PackageRuntime;
  /** More files that belong to the package, by their paths in it. */
  readonly files: readonly string[];
  readonly capabilities: ReadonlySet<Capability>;
  readonly connection: OptionsSchema;
  /** Undefined: it can't read. */
  readonly read: OptionsSchema | undefined;
  readonly write: OptionsSchema | undefined;
  readonly permissions: Permissions;
};

/** A platform's name, such as `linux-x64`; `any` stands for all that have none of their own. */
const PLATFORM = /^(?:any|(?:linux|darwin|windows)-(?:x64|arm64))$/;
/** What pz itself reads of a connection. */
const RESERVED = ["connector", "entities", "max_concurrency", "rate_limit", "retry", "allow_unsigned_extensions"];
const KEYS = [
  "$schema",
  "name",
  "version",
  "protocol",
  "runtime",
  "entry",
  "entrypoints",
  "files",
  "capabilities",
  "connection",
  "read",
  "write",
  "permissions",
];

/** The name of the platform that this program runs on. */
export function platformName(): string {
  return `${Deno.build.os}-${Deno.build.arch === "aarch64" ? "arm64" : "x64"}`;
}

/**
 * Reads a manifest.
 *
 * @param file how to name it in errors
 * @returns the manifest, or every problem: PZ0306 for what can't be read or understood, PZ0345 for an option that pz
 * keeps for itself, PZ0354 for a package of which nothing can run
 */
export function parseManifest(text: string, file: string): PackageManifest | readonly PzError[] {
  let reader: ManifestReader | undefined;
  try {
    reader = ManifestReader.parse(text, file);
  } catch (error) {
    return [brokenJson(text, file, error)];
  }
  if (reader === undefined) {
    return [
      new PzError("PZ0306", "the manifest is no JSON object", { file, hint: "see the README's chapter on packages" }),
    ];
  }
  if (reader.has("protocolMajorMin") || reader.has("protocolMajorMax")) {
    return [
      new PzError("PZ0700", "the package speaks gRPC with pz, which this pz does not support yet", {
        file,
        hint: `a manifest of this pz has "protocol": ${PROTOCOL_MAJOR}`,
      }),
    ];
  }
  reader.closed(KEYS);
  const manifest = {
    name: reader.matching("name", /^[a-z][a-z0-9_-]{0,63}$/, "lowercase letters, digits, _ and -, a letter first"),
    version: reader.matching("version", VERSION, "a version such as 1.2.3"),
    runtime: readRuntime(reader),
    files: readFiles(reader),
    capabilities: readCapabilities(reader),
    connection: readOptions(reader, "connection") ?? NO_OPTIONS,
    read: readOptions(reader, "read"),
    write: readOptions(reader, "write"),
    permissions: readPermissions(reader),
  };
  const protocol = reader.value("protocol");
  if (protocol !== PROTOCOL_MAJOR) {
    reader.problem(
      "PZ0306",
      `"protocol" is ${shown(protocol)}: this pz speaks ${PROTOCOL_MAJOR}`,
      protocol === undefined ? `add "protocol": ${PROTOCOL_MAJOR}` : "use a version of the package for this pz",
    );
  }
  if (manifest.read === undefined && manifest.write === undefined) {
    reader.problem("PZ0306", `the manifest has neither "read" nor "write"`, `add "read": {} or "write": {}`);
  }
  if (manifest.capabilities.has("CheckpointableReads") && !manifest.capabilities.has("StablePartitionIds")) {
    reader.problem("PZ0306", "CheckpointableReads needs StablePartitionIds as well", undefined);
  }
  return reader.problems.length > 0 ? reader.problems : manifest;
}

/** Where a text stops being JSON, as far as the parser tells: it names a line, or that the end is missing. */
function brokenJson(text: string, file: string, error: unknown): PzError {
  const message = error instanceof Error ? error.message : "";
  const [, line, column] = /\(line (\d+) column (\d+)\)/.exec(message) ?? [];
  const lines = text.split("\n");
  const cut = /^Unexpected end|^Unterminated/.test(message);
  const hint = "correct it there, or a comma, a quote or a bracket before it";
  if (line === undefined && !cut) return new PzError("PZ0306", "the manifest is no JSON object", { file, hint });
  return new PzError("PZ0306", cut ? "the manifest is no JSON: it ends too early" : "the manifest is no JSON", {
    file,
    line: line === undefined ? lines.length : Number(line),
    column: column === undefined ? (lines.at(-1) ?? "").length + 1 : Number(column),
    hint: cut ? "add what closes the object" : hint,
  });
}

/** The package's files that are installed, the manifest first. */
export function filesOf({ runtime, files }: PackageManifest): readonly string[] {
  const run = runtime.kind === "deno" ? [runtime.entry] : Object.values(runtime.entrypoints);
  return [...new Set([MANIFEST_FILE, ...run, ...files])];
}

const VERSION = /^\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?$/;
const NO_OPTIONS: OptionsSchema = { properties: {}, required: [], schema: {} };

function readRuntime(reader: ManifestReader): PackageRuntime {
  const runtime = reader.value("runtime") ?? "deno";
  if (runtime === "deno") {
    if (reader.has("entrypoints")) {
      reader.problem("PZ0354", `"entrypoints" belongs to "runtime": "process"`, `name the module in "entry"`);
    }
    const entry = reader.text("entry", "PZ0354", `"connector.js"`);
    if (entry !== undefined) checkPath(reader, "entry", entry);
    if (entry !== undefined && !/\.m?js$/.test(entry)) {
      reader.problem(
        "PZ0354",
        `"entry" is ${shown(entry)}: expected one bundled .js file`,
        "pz connector build makes it",
      );
    }
    return { kind: "deno", entry: entry ?? "" };
  }
  if (runtime !== "process") {
    const known = ["deno", "process"];
    const meant = nearMiss(String(runtime), known);
    reader.problem(
      "PZ0354",
      `"runtime" is ${shown(runtime)}: expected "deno" or "process"`,
      meant === undefined ? "a later pz may know it" : `did you mean "${meant}"?`,
    );
    return { kind: "process", entrypoints: {} };
  }
  if (reader.has("entry")) reader.problem("PZ0354", `"entry" belongs to "runtime": "deno"`, `use "entrypoints"`);
  const found = reader.texts("entrypoints", "PZ0354");
  for (const [platform, path] of Object.entries(found)) {
    if (!PLATFORM.test(platform)) {
      reader.problem(
        "PZ0354",
        `"entrypoints" has the platform ${shown(platform)}`,
        `such as "${platformName()}", or "any"`,
      );
    }
    checkPath(reader, `entrypoints.${platform}`, path);
  }
  if (Object.keys(found).length === 0) {
    reader.problem("PZ0354", `"entrypoints" names no program`, `add "entrypoints": { "any": "connector" }`);
  }
  return { kind: "process", entrypoints: found };
}

function readFiles(reader: ManifestReader): readonly string[] {
  const files = reader.list("files");
  for (const file of files) checkPath(reader, "files", file);
  return files;
}

function checkPath(reader: ManifestReader, key: string, path: string): void {
  if (isPackagePath(path) && path !== MANIFEST_FILE) return;
  reader.problem(
    "PZ0306",
    `"${key}" is ${shown(path)}: expected a file below the package's folder`,
    "such as dist/connector.js",
  );
}

function readCapabilities(reader: ManifestReader): ReadonlySet<Capability> {
  const capabilities = new Set<Capability>();
  for (const name of reader.list("capabilities")) {
    if (isCapability(name)) {
      capabilities.add(name);
      continue;
    }
    const meant = nearMiss(name, Object.keys(CAPABILITIES));
    const hint = meant === undefined ? `such as ${Object.keys(CAPABILITIES)[0]}` : `did you mean "${meant}"?`;
    reader.problem("PZ0306", `"capabilities" has ${shown(name)}, which is none`, hint);
  }
  for (const native of ["NativeScan", "NativeCopy", "NativeOnlyRead"] as const) {
    if (capabilities.has(native)) {
      reader.problem("PZ0306", `"capabilities" has "${native}", which only connectors inside pz can have`, "remove it");
    }
  }
  return capabilities;
}

function isCapability(name: string): name is Capability {
  return Object.hasOwn(CAPABILITIES, name);
}

function readOptions(reader: ManifestReader, side: "connection" | "read" | "write"): OptionsSchema | undefined {
  const schema = reader.object(side);
  if (schema === undefined) return undefined;
  const properties: { [name: string]: ConfigMap } = {};
  const inner = reader.within(side, schema);
  for (const [name, property] of Object.entries(inner.object("properties") ?? {})) {
    if (isMap(property)) properties[name] = property;
    else {reader.problem(
        "PZ0306",
        `"${side}.properties.${name}" is ${shown(property)}: expected a JSON Schema`,
        undefined,
      );}
    if (side === "connection" && RESERVED.includes(name)) {
      reader.problem("PZ0345", `"connection" has the option "${name}", which pz reads itself`, "give it another name");
    }
  }
  if (Object.keys(schema).length > 0 && !inner.has("properties")) {
    reader.problem("PZ0306", `"${side}" has no "properties"`, `write {} for no options, or { "properties": { … } }`);
  }
  const required = inner.list("required");
  for (const name of required.filter((name) => !Object.hasOwn(properties, name))) {
    reader.problem("PZ0306", `"${side}.required" has "${name}", which is no property`, undefined);
  }
  return { properties, required, schema };
}

function isMap(value: unknown): value is ConfigMap {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function shown(value: unknown): string {
  return value === undefined ? "missing" : JSON.stringify(value) ?? "missing";
}
