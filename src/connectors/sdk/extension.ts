import type { Field } from "../../util/arrow.ts";

/** What the bytes of a field stand for beyond their Arrow type. */
export type Extension = "uuid" | "json" | "hugeint" | "uhugeint";

const NAME = "ARROW:extension:name";
const METADATA = "ARROW:extension:metadata";

/** The field metadata that says so. */
export function extensionMetadata(extension: Extension): Map<string, string> {
  if (extension === "uuid" || extension === "json") return new Map([[NAME, `arrow.${extension}`]]);
  return new Map([
    [NAME, "arrow.opaque"],
    [METADATA, JSON.stringify({ type_name: extension, vendor_name: "DuckDB" })],
  ]);
}

/**
 * What a field's metadata say; undefined for none of these.
 *
 * @throws {TypeError} for a type whose bytes would be taken for something else
 */
export function extensionOf(field: Field): Extension | undefined {
  switch (field.metadata.get(NAME)) {
    case "arrow.uuid":
      return "uuid";
    case "arrow.json":
      return "json";
    case "arrow.opaque": {
      const type = /"type_name"\s*:\s*"(\w+)"/.exec(field.metadata.get(METADATA) ?? "")?.[1];
      if (type === "hugeint" || type === "uhugeint") return type;
      throw new TypeError(`Column "${field.name}" has the type "${type ?? "opaque"}", whose bytes only DuckDB knows`);
    }
  }
  return undefined;
}
