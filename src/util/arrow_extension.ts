import type { Field } from "./arrow.ts";

/** What a field's bytes stand for beyond their Arrow type. */
export type Extension =
  | { readonly name: "arrow.json" }
  | { readonly name: "arrow.uuid" }
  /** A type of DuckDB's own in its own bytes. */
  | { readonly name: "arrow.opaque"; readonly typeName: OpaqueType }
  /** Texts that are labels of an enumeration, which holds these in this order. */
  | { readonly name: "pz.enum"; readonly labels: readonly string[] };

export type OpaqueType = "hugeint" | "uhugeint" | "time_tz" | "bit";

const OPAQUE: ReadonlySet<string> = new Set<OpaqueType>(["hugeint", "uhugeint", "time_tz", "bit"]);
const NAME = "ARROW:extension:name";
const METADATA = "ARROW:extension:metadata";

/** The field metadata that says so. */
export function extensionMetadata(extension: Extension): Map<string, string> {
  const metadata = new Map<string, string>([[NAME, extension.name]]);
  if (extension.name === "arrow.opaque") {
    metadata.set(METADATA, JSON.stringify({ type_name: extension.typeName, vendor_name: "DuckDB" }));
  }
  if (extension.name === "pz.enum") metadata.set(METADATA, JSON.stringify(extension.labels));
  return metadata;
}

/** What a field's metadata say; undefined for none and for what is unknown. */
export function extensionOf(field: Field): Extension | undefined {
  const name = field.metadata.get(NAME);
  if (name === "arrow.json" || name === "arrow.uuid") return { name };
  const details = parsed(field.metadata.get(METADATA));
  if (name === "pz.enum" && Array.isArray(details)) {
    const labels = details.filter((label) => typeof label === "string");
    return labels.length > 0 && labels.length === details.length ? { name, labels } : undefined;
  }
  if (name !== "arrow.opaque" || typeof details !== "object" || details === null) return undefined;
  if (!("type_name" in details) || !("vendor_name" in details) || details.vendor_name !== "DuckDB") return undefined;
  const typeName = details.type_name;
  return isOpaqueType(typeName) ? { name, typeName } : undefined;
}

/** Whether a field says that its bytes are a system's own, be they known or not. */
export function isOpaque(field: Field): boolean {
  return field.metadata.get(NAME) === "arrow.opaque";
}

function isOpaqueType(name: unknown): name is OpaqueType {
  return typeof name === "string" && OPAQUE.has(name);
}

function parsed(json: string | undefined): unknown {
  try {
    return json === undefined ? undefined : JSON.parse(json);
  } catch {
    return undefined;
  }
}
