import { type Extension, extensionOf, type Field, isOpaque } from "../../util/arrow.ts";

/**
 * What the bytes of a field stand for beyond their Arrow type; undefined: nothing.
 *
 * @throws {TypeError} for a type whose bytes would be taken for something else
 */
export function readableExtension(field: Field): Extension | undefined {
  const extension = extensionOf(field);
  const typeName = extension?.name === "arrow.opaque" ? extension.typeName : undefined;
  if (!isOpaque(field) || typeName === "hugeint" || typeName === "uhugeint") return extension;
  throw new TypeError(`Column "${field.name}" has the type "${typeName ?? "opaque"}", whose bytes only DuckDB knows`);
}
