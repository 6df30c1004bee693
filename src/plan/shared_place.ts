import { isAbsolute, relative } from "node:path";
import type { SinkWriteNode } from "../compile/mod.ts";
import type { OutputTarget } from "../connectors/mod.ts";
import { type Refusal, refusal } from "./refusal.ts";

/** An output and the place that its write changes. */
export type Output = { readonly node: SinkWriteNode; readonly target: OutputTarget };

/** PZ0206 for an output whose place another one replaces or changes too, and that other one; undefined where it is free. */
export function sharedPlace(
  output: Output,
  others: readonly Output[],
): { readonly refusal: Refusal; readonly other: Output } | undefined {
  for (const other of others) {
    const what = overlap(output, other);
    if (what === undefined) continue;
    const hint = "give each output a place of its own";
    return { refusal: refusal(output.node, "PZ0206", what, hint), other };
  }
  return undefined;
}

function overlap(output: Output, other: Output): string | undefined {
  const [a, b] = [output.target, other.target];
  const names = `outputs '${other.node.name}' and '${output.node.name}'`;
  if (a.path === b.path) {
    if (a.table === undefined || b.table === undefined) return `${names} both write "${a.path}"`;
    return a.table === b.table ? `${names} both write the table "${a.table}" of "${a.path}"` : undefined;
  }
  const [outer, inner] = a.wholeFolder && isBelow(a.path, b.path)
    ? [output, other]
    : b.wholeFolder && isBelow(b.path, a.path)
    ? [other, output]
    : [];
  if (outer === undefined || inner === undefined) return undefined;
  return `output '${outer.node.name}' replaces the whole folder "${outer.target.path}", which holds what ` +
    `output '${inner.node.name}' writes`;
}

function isBelow(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way !== "" && way !== ".." && !/^\.\.[\\/]/.test(way) && !isAbsolute(way);
}
