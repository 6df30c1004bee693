import { block, mapOrReport } from "./blocks.ts";
import type { ColumnContract } from "./model.ts";
import { withoutUndefined } from "./optional.ts";
import { report } from "./problems.ts";
import { about, type JsonSchema, scopeOf, type Shape, text, word } from "./shapes.ts";

const TYPE = text("a type name such as bigint or varchar");
const LONG_FORM = block({
  type: about("The column's type.", TYPE),
  lossy: about("Let values that the type can't hold exactly be changed instead of refused.", word("allow")),
}, { required: ["type"] });

/** A `columns:` contract, in the order of the file: `name: type`, or `name: { type, lossy: allow }`. */
export function columnsShape(): Shape<readonly ColumnContract[]> {
  const schema: JsonSchema = {
    type: ["object", "null"],
    additionalProperties: { anyOf: [TYPE.schema, LONG_FORM.schema] },
  };
  return {
    schema,
    read(node, scope) {
      const map = mapOrReport(node, scope);
      if (map === undefined || map.entries.length === 0) return undefined;
      const columns: ColumnContract[] = [];
      const names = new Set<string>();
      for (const entry of map.entries) {
        const folded = entry.key.toLowerCase();
        if (names.has(folded)) {
          const message = `The column '${entry.key}' in '${scope.path}' stands there twice: case makes no difference`;
          report(scope.problems, scope.code, message, entry.position, "Keep one of the two.");
        }
        names.add(folded);
        const inner = scopeOf(scope, entry);
        if (entry.value.kind === "map") {
          const values = LONG_FORM.read(entry.value, inner);
          const { type, lossy } = values ?? {};
          if (type !== undefined) columns.push({ name: entry.key, type, ...withoutUndefined({ lossy }) });
        } else {
          const type = TYPE.read(entry.value, inner);
          if (type !== undefined) columns.push({ name: entry.key, type });
        }
      }
      return columns;
    },
  };
}
