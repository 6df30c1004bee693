import type { Json, JsonObject } from "./schema_support.ts";

/**
 * What of a released schema of events today's no longer keeps. Events and fields may be new, and a field that could be
 * absent may be always there; nothing else may differ but the descriptions.
 */
export function breachesOf(released: Json, today: Json): string[] {
  const now = branchesOf(today);
  return [...branchesOf(released)].flatMap(([event, branch]) => {
    const other = now.get(event);
    return other === undefined ? [`${event}: is gone`] : objectBreaches(event, branch, other);
  });
}

function branchesOf(schema: Json): Map<string, JsonObject> {
  return new Map(
    listAt(schema, "oneOf").map((
      branch,
    ) => [String(at(at(at(branch, "properties"), "event"), "const")), asObject(branch)]),
  );
}

function objectBreaches(where: string, released: JsonObject, today: JsonObject): string[] {
  const old = asObject(released["properties"]);
  const now = asObject(today["properties"]);
  const names = Object.keys(old);
  const kept = Object.keys(now).filter((name) => names.includes(name));
  const inOrder = kept.join() === names.filter((name) => kept.includes(name)).join();
  return [
    ...(inOrder ? [] : [`${where}: the fields stand in another order`]),
    ...listAt(released, "required")
      .filter((name) => !listAt(today, "required").includes(name))
      .map((name) => `${where}.${name}: may be absent now`),
    ...names.flatMap((name) => {
      const field = now[name];
      return field === undefined
        ? [`${where}.${name}: is gone`]
        : fieldBreaches(`${where}.${name}`, asObject(old[name]), asObject(field));
    }),
    ...sameBreaches(where, released, today, ["properties", "required"]),
  ];
}

function fieldBreaches(where: string, released: JsonObject, today: JsonObject): string[] {
  if (released["properties"] !== undefined) return objectBreaches(where, released, today);
  if (released["items"] !== undefined) {
    return [
      ...fieldBreaches(`${where}[]`, asObject(released["items"]), asObject(today["items"])),
      ...sameBreaches(where, released, today, ["items"]),
    ];
  }
  return sameBreaches(where, released, today, []);
}

/** The keywords, other than those looked at elsewhere and those that only describe, that differ. */
function sameBreaches(where: string, released: JsonObject, today: JsonObject, except: readonly string[]): string[] {
  const keywords = new Set([...Object.keys(released), ...Object.keys(today)]);
  for (const keyword of ["description", "title", ...except]) keywords.delete(keyword);
  return [...keywords]
    .filter((keyword) => JSON.stringify(released[keyword]) !== JSON.stringify(today[keyword]))
    .map((keyword) =>
      `${where}: '${keyword}' was ${JSON.stringify(released[keyword])}, is ${JSON.stringify(today[keyword])}`
    );
}

function at(value: Json | undefined, key: string): Json | undefined {
  return asObject(value)[key];
}

function asObject(value: Json | undefined): JsonObject {
  return typeof value === "object" && value !== null && !isList(value) ? value : {};
}

function listAt(value: Json, key: string): readonly Json[] {
  const list = at(value, key);
  return list !== undefined && isList(list) ? list : [];
}

function isList(value: Json): value is readonly Json[] {
  return Array.isArray(value);
}
