import { CAPABILITIES } from "../contract/mod.ts";
import { PROTOCOL_MAJOR } from "../protocol/messages.ts";

const PATH = { type: "string", pattern: "^[A-Za-z0-9_@+~-][A-Za-z0-9._@+~/-]*$", maxLength: 200 };
const TEXTS = { type: "array", items: { type: "string" } };
const INSIDE: ReadonlySet<string> = new Set(["NativeScan", "NativeCopy", "NativeOnlyRead"]);

/** The JSON Schema of `pz.connector.json`, for editors; `parseManifest` is what decides. */
export function manifestSchema(): { readonly [keyword: string]: unknown } {
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "pz.connector.json",
    type: "object",
    properties: {
      $schema: { type: "string" },
      name: { description: "The connector's name.", type: "string", pattern: "^[a-z][a-z0-9_-]{0,63}$" },
      version: { description: "The package's version.", type: "string", pattern: "^\\d+\\.\\d+\\.\\d+" },
      protocol: { description: "The version of pz's protocol.", const: PROTOCOL_MAJOR },
      runtime: { description: "What runs: a module in the sandbox, or a program.", enum: ["deno", "process"] },
      entry: { description: "Of the runtime deno: the one bundled module.", ...PATH },
      entrypoints: {
        description: "Of the runtime process: the program for each platform, or for any.",
        type: "object",
        patternProperties: { "^(?:any|(?:linux|darwin|windows)-(?:x64|arm64))$": PATH },
        additionalProperties: false,
        minProperties: 1,
      },
      files: { description: "More files of the package.", type: "array", items: PATH },
      capabilities: {
        description: "What it can do beyond reading everything and appending.",
        type: "array",
        items: { enum: Object.keys(CAPABILITIES).filter((name) => !INSIDE.has(name)) },
      },
      connection: options("The options of a connection."),
      read: options("The options of a read; absent: it can't read."),
      write: options("The options of a write; absent: it can't write."),
      permissions: {
        description: "What it may touch; {option} stands for an option of the connection.",
        type: "object",
        properties: { net: TEXTS, read: TEXTS, write: TEXTS, env: TEXTS },
        additionalProperties: false,
      },
    },
    required: ["name", "version", "protocol"],
    anyOf: [{ required: ["read"] }, { required: ["write"] }],
    additionalProperties: false,
  };
}

function options(description: string): { readonly [keyword: string]: unknown } {
  return {
    description,
    type: "object",
    properties: { properties: { type: "object" }, required: TEXTS },
  };
}
