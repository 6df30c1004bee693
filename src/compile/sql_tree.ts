import type { SqlAst } from "../duckdb/mod.ts";

/** An object in DuckDB's tree of a statement. */
export type Tree = { readonly [key: string]: SqlAst };

export function isTree(value: SqlAst | undefined): value is Tree {
  return typeof value === "object" && value !== null && !isList(value);
}

export function isList(value: SqlAst | undefined): value is readonly SqlAst[] {
  return Array.isArray(value);
}

/** The object under a key, or undefined. */
export function child(tree: Tree | undefined, key: string): Tree | undefined {
  const value = tree?.[key];
  return isTree(value) ? value : undefined;
}

/** The objects in the list under a key. */
export function children(tree: Tree | undefined, key: string): readonly Tree[] {
  const value = tree?.[key];
  return isList(value) ? value.filter(isTree) : [];
}

/** The texts in the list under a key. */
export function texts(tree: Tree | undefined, key: string): readonly string[] {
  const value = tree?.[key];
  return isList(value) ? value.filter((item) => typeof item === "string") : [];
}

/** The text under a key; empty where there is none. */
export function text(tree: Tree | undefined, key: string): string {
  const value = tree?.[key];
  return typeof value === "string" ? value : "";
}

/** Whether something other than null, false, an empty text or an empty list stands under a key. */
export function has(tree: Tree | undefined, key: string): boolean {
  const value = tree?.[key];
  return isList(value) ? value.length > 0 : value !== undefined && value !== null && value !== false && value !== "";
}

/** Calls `visit` for every object of a tree, outer ones first. */
export function walk(value: SqlAst | undefined, visit: (tree: Tree) => void): void {
  if (isList(value)) {
    for (const item of value) walk(item, visit);
  } else if (isTree(value)) {
    visit(value);
    for (const member of Object.values(value)) walk(member, visit);
  }
}

/** Where an object stands, as a UTF-8 byte offset into the parsed text, or undefined. */
export function byteOffset(tree: Tree): number | undefined {
  const location = tree["query_location"];
  return typeof location === "number" ? location : undefined;
}
