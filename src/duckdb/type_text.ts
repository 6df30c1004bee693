import type { DuckDBType } from "@duckdb/node-api";
import type { DuckDbLibrary } from "./load.ts";
import { ident } from "./quote.ts";

/** DuckDB's name of a type, such as `DECIMAL(18,4)` or `JSON[]`, which reads back as the same type. */
export function typeText(type: DuckDBType, library: DuckDbLibrary): string {
  // The bindings' own text forgets the aliases of nested types.
  const { DuckDBTypeId: id } = library.api;
  if (type.alias !== undefined) return type.alias;
  switch (type.typeId) {
    case id.LIST:
      return `${typeText(type.valueType, library)}[]`;
    case id.ARRAY:
      return `${typeText(type.valueType, library)}[${type.length}]`;
    case id.MAP:
      return `MAP(${typeText(type.keyType, library)}, ${typeText(type.valueType, library)})`;
    case id.STRUCT:
      return `STRUCT(${members(type.entryNames, type.entryTypes, library)})`;
    case id.UNION:
      return `UNION(${members(type.memberTags, type.memberTypes, library)})`;
    default:
      return String(type);
  }
}

function members(names: readonly string[], types: readonly DuckDBType[], library: DuckDbLibrary): string {
  return types.map((type, index) => `${ident(names[index] ?? "")} ${typeText(type, library)}`).join(", ");
}
