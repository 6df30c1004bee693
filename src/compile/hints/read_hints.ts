import { canonicalJson, ordinal } from "../../util/mod.ts";
import type { Predicate, ReadHints } from "../dag.ts";
import type { SourceEntity } from "../entities.ts";
import type { QueryTree } from "../statements.ts";
import { QueryReader } from "./query_reader.ts";
import { UnknownForm } from "./scope.ts";
import { type KnownColumns, type SourceUse, UseCollector } from "./source_use.ts";

/** What one pipeline needs of each source that it reads, by relation in lower case; nothing is known without a tree. */
export function usesOf(
  tree: QueryTree | undefined,
  sources: readonly SourceEntity[],
): ReadonlyMap<string, SourceUse> {
  const collectors = new Map(
    sources.map((source) => [source.relation.toLowerCase(), new UseCollector(knownColumns(source))]),
  );
  const uses = new Map<string, SourceUse>();
  let understood = tree !== undefined;
  try {
    if (tree !== undefined) new QueryReader((relation) => collectors.get(relation)).statement(tree.statement);
  } catch (error) {
    if (!(error instanceof UnknownForm)) throw error;
    understood = false;
  }
  for (const [relation, collector] of collectors) {
    uses.set(relation, understood ? collector.result() : { columns: "all", predicates: [] });
  }
  return uses;
}

function knownColumns({ read: { columns } }: SourceEntity): KnownColumns | undefined {
  return columns === undefined ? undefined : new Map(columns.map((column) => [column.name.toLowerCase(), column]));
}

/**
 * What a source's connector may leave out for all its readers together: the union of their columns, and predicates
 * where there is one reader. Undefined where everything is needed.
 */
export function hintsFor(source: SourceEntity, uses: readonly SourceUse[]): ReadHints | undefined {
  const { sync } = source.read;
  if (sync?.mode === "cdc") return undefined;
  const cursor = sync?.mode === "incremental" ? sync.cursor.toLowerCase() : undefined;
  const columns = unionOf(source, uses, cursor);
  const [only] = uses;
  const predicate = uses.length === 1 && only !== undefined ? conjunction(only.predicates, cursor) : undefined;
  if (columns === undefined && predicate === undefined) return undefined;
  return { ...(columns === undefined ? {} : { columns }), ...(predicate === undefined ? {} : { predicate }) };
}

function unionOf(
  source: SourceEntity,
  uses: readonly SourceUse[],
  cursor: string | undefined,
): readonly string[] | undefined {
  const union = new Set<string>(cursor === undefined ? [] : [cursor]);
  for (const { columns } of uses) {
    if (columns === "all") return undefined;
    for (const column of columns) union.add(column);
  }
  const known = knownColumns(source);
  if (known === undefined) return [...union].sort(ordinal);
  const named = [...known].filter(([folded]) => union.has(folded)).map(([, { name }]) => name);
  return named.length === 0 || named.length === known.size ? undefined : named.sort(ordinal);
}

/** The predicates in a fixed order, each once, without those on the cursor. */
function conjunction(predicates: readonly Predicate[], cursor: string | undefined): Predicate | undefined {
  const unique = new Map<string, Predicate>();
  for (const predicate of predicates) {
    if (predicate.op === "and" || predicate.column.toLowerCase() === cursor) continue;
    unique.set(canonicalJson({ ...predicate }), predicate);
  }
  const args = [...unique].sort(([a], [b]) => ordinal(a, b)).map(([, predicate]) => predicate);
  const [first] = args;
  return args.length > 1 ? { op: "and", args } : first;
}
