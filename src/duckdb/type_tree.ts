import type { DuckDBType } from "@duckdb/node-api";
import type { DuckDbLibrary } from "./load.ts";

/** A DuckDB type with what it is made of. `name` is DuckDB's name of its kind, such as `TIMESTAMP_TZ`. */
export type DuckType =
  | { readonly kind: "plain"; readonly name: string; readonly alias?: string }
  | { readonly kind: "decimal"; readonly width: number; readonly scale: number }
  | { readonly kind: "enum"; readonly labels: readonly string[] }
  | { readonly kind: "list"; readonly item: DuckType }
  | { readonly kind: "array"; readonly item: DuckType; readonly length: number }
  | { readonly kind: "struct"; readonly fields: readonly { readonly name: string; readonly type: DuckType }[] }
  | { readonly kind: "map"; readonly key: DuckType; readonly value: DuckType };

/** The tree of a type. Unions are `plain`. */
export function typeTree(type: DuckDBType, library: DuckDbLibrary): DuckType {
  const { DuckDBTypeId: id } = library.api;
  switch (type.typeId) {
    case id.DECIMAL:
      return { kind: "decimal", width: type.width, scale: type.scale };
    case id.ENUM:
      return { kind: "enum", labels: type.values };
    case id.LIST:
      return { kind: "list", item: typeTree(type.valueType, library) };
    case id.ARRAY:
      return { kind: "array", item: typeTree(type.valueType, library), length: type.length };
    case id.STRUCT: {
      const fields = type.entryNames.map((name, index) => {
        const entry = type.entryTypes[index];
        if (entry === undefined) throw new RangeError(`The struct field "${name}" has no type`);
        return { name, type: typeTree(entry, library) };
      });
      return { kind: "struct", fields };
    }
    case id.MAP:
      return { kind: "map", key: typeTree(type.keyType, library), value: typeTree(type.valueType, library) };
    default: {
      const name = id[type.typeId];
      return { kind: "plain", name, ...(type.alias === undefined ? {} : { alias: type.alias }) };
    }
  }
}
