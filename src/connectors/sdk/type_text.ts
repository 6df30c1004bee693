import { duckDbType } from "../contract/mod.ts";

/** A DuckDB type, as its text says it. */
export type TypeTree =
  | { readonly kind: "plain"; readonly name: string }
  | { readonly kind: "list"; readonly item: TypeTree }
  | { readonly kind: "array"; readonly item: TypeTree; readonly length: number }
  | { readonly kind: "struct"; readonly members: readonly { readonly name: string; readonly type: TypeTree }[] }
  | { readonly kind: "map"; readonly key: TypeTree; readonly value: TypeTree };

/** Scalar types beyond those of a contract. */
const MORE: ReadonlySet<string> = new Set([
  "UHUGEINT",
  "INTERVAL",
  "TIMESTAMP_S",
  "TIMESTAMP_MS",
  "TIMESTAMP_NS",
  "TIME_NS",
]);

/**
 * Reads a type: a name of a `columns:` contract or of DuckDB, `T[]`, `T[n]`, `STRUCT(a T, "b c" T)` or `MAP(K, V)`, in any
 * case. Undefined for anything else.
 */
export function typeTree(text: string): TypeTree | undefined {
  const trimmed = text.trim();
  const list = /^(.*\S)\s*\[\s*(\d{0,6})\s*\]$/s.exec(trimmed);
  if (list !== null) {
    const [, item = "", length = ""] = list;
    const tree = typeTree(item);
    if (tree === undefined) return undefined;
    return length === "" ? { kind: "list", item: tree } : { kind: "array", item: tree, length: Number(length) };
  }
  const nested = /^(struct|row|map)\s*\((.*)\)$/is.exec(trimmed);
  if (nested !== null) {
    const [, word = "", inside = ""] = nested;
    const parts = split(inside);
    return parts && (word.toLowerCase() === "map" ? mapOf(parts) : structOf(parts));
  }
  const upper = trimmed.toUpperCase();
  const name = MORE.has(upper) ? upper : duckDbType(trimmed);
  return name === undefined ? undefined : { kind: "plain", name };
}

function mapOf(parts: readonly string[]): TypeTree | undefined {
  const [key, value, ...more] = parts.map(typeTree);
  return key === undefined || value === undefined || more.length > 0 ? undefined : { kind: "map", key, value };
}

function structOf(parts: readonly string[]): TypeTree | undefined {
  const members: { name: string; type: TypeTree }[] = [];
  for (const part of parts) {
    const [, quoted, plain, rest = ""] = /^\s*(?:"((?:[^"]|"")+)"|([^\s"()]+))\s+(.+)$/s.exec(part) ?? [];
    const name = quoted?.replaceAll('""', '"') ?? plain;
    const type = typeTree(rest);
    if (name === undefined || type === undefined) return undefined;
    members.push({ name, type });
  }
  return { kind: "struct", members };
}

/** The parts between the commas that stand in no parentheses and no quotes; undefined where these do not close. */
function split(text: string): readonly string[] | undefined {
  const parts: string[] = [];
  let depth = 0;
  let from = 0;
  for (let at = 0; at < text.length; at++) {
    const letter = text[at];
    if (letter === '"') {
      at = text.indexOf('"', at + 1);
      if (at < 0) return undefined;
    } else if (letter === "(") depth++;
    else if (letter === ")" && --depth < 0) return undefined;
    else if (letter === "," && depth === 0) {
      parts.push(text.slice(from, at));
      from = at + 1;
    }
  }
  parts.push(text.slice(from));
  return depth === 0 ? parts : undefined;
}
