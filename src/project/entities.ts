import { block, type Fields, mapOrReport } from "./blocks.ts";
import { warnOfReferences } from "./interpolate.ts";
import type { Entity } from "./model.ts";
import { entityNameError } from "./names.ts";
import { recordOf, withoutUndefined } from "./optional.ts";
import { report } from "./problems.ts";
import { readShape } from "./read_block.ts";
import { about, didYouMean, type Scope, scopeOf, type Shape } from "./shapes.ts";
import { writeShape } from "./write_block.ts";
import { entryOf, placesOf, type YamlEntry } from "./yaml_node.ts";

const ENTITY_FIELDS = {
  read: about("How the entity is read.", readShape()),
  write: about("How the entity is written.", writeShape()),
} satisfies Fields;
const ENTITY = block(ENTITY_FIELDS);

/** The `entities:` of a connection, each under its name. */
export function entitiesShape(): Shape<{ readonly [name: string]: Entity }> {
  return {
    schema: { type: ["object", "null"], additionalProperties: { ...ENTITY.schema, type: "object", minProperties: 1 } },
    read(node, scope) {
      const map = mapOrReport(node, scope);
      if (map === undefined) return undefined;
      warnOfReferences(map, scope.problems);
      return recordOf(map.entries.flatMap((entry) => {
        const entity = readEntity(entry, scopeOf(scope, entry));
        return entity === undefined ? [] : [[entry.key, entity] as const];
      }));
    },
  };
}

function readEntity(entry: YamlEntry, scope: Scope): Entity | undefined {
  const wrongName = entityNameError(entry.key, entry.position);
  if (wrongName !== undefined) scope.problems.errors.push(wrongName);
  const hasSide = entry.value.kind === "map" &&
    entry.value.entries.some(({ key }) => Object.hasOwn(ENTITY_FIELDS, key));
  if (entry.value.kind === "empty" || (entry.value.kind === "map" && !hasSide)) {
    reportNoSide(entry, scope);
    return undefined;
  }
  const values = ENTITY.read(entry.value, scope);
  if (values === undefined) return undefined;
  const sideAt = (key: string) => entry.value.kind === "map" ? entryOf(entry.value, key)?.value : undefined;
  const read = sideAt("read");
  const columns = read?.kind === "map" ? entryOf(read, "columns")?.value : undefined;
  return {
    name: entry.key,
    ...withoutUndefined({ read: values.read, write: values.write }),
    position: entry.position,
    places: { read: placesOf(read), write: placesOf(sideAt("write")), columns: placesOf(columns) },
  };
}

/** Says which side is missing; where other keys stand there, they belong under one. */
function reportNoSide(entry: YamlEntry, scope: Scope): void {
  if (entry.value.kind === "empty" && entry.value.reported === true) return;
  const keys = entry.value.kind === "map" ? entry.value.entries : [];
  const misspelt = keys.find(({ key }) => didYouMean(key, Object.keys(ENTITY_FIELDS)) !== undefined);
  const [first] = keys;
  const hint = misspelt !== undefined
    ? didYouMean(misspelt.key, Object.keys(ENTITY_FIELDS))
    : first !== undefined
    ? `Put '${first.key}' under 'read:' or 'write:'.`
    : "Add 'read:' or 'write:', or leave the entity out: a call declares it.";
  const place = misspelt?.position ?? entry.position;
  report(scope.problems, scope.code, `'${scope.path}' has neither 'read' nor 'write'`, place, hint);
}
