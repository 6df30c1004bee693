import type { DryCompileOptions } from "../../compile/mod.ts";
import { ident } from "../../duckdb/mod.ts";
import type { FoundSchemas } from "./connect.ts";

/** The same look at sources without a contract, but for datasets whose columns were found, which are not looked at again. */
export function withFound(options: DryCompileOptions, found: FoundSchemas): DryCompileOptions {
  const known = new Map(found.filter(([, columns]) => columns.length > 0));
  return {
    ...options,
    scanOf: (node) => {
      const columns = known.get(`${node.connection.name}.${node.entity}`);
      if (columns === undefined) return options.scanOf?.(node);
      const list = columns.map(({ name, type }) => `NULL::${type} AS ${ident(name)}`);
      return { fragment: `(SELECT ${list.join(", ")})`, setup: [] };
    },
  };
}
