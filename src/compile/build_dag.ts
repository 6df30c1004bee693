import { fail, type Outcome, PzError, succeed } from "../errors/mod.ts";
import type { Project } from "../project/mod.ts";
import type { RenderedPipeline } from "../template/mod.ts";
import type { CompiledDag, DagNode, ReadHints } from "./dag.ts";
import { sinkEntities, sourceEntities, type SourceEntity } from "./entities.ts";
import { hintsFor, usesOf } from "./hints/read_hints.ts";
import type { SourceUse } from "./hints/source_use.ts";
import { SqlInspector } from "./inspector.ts";
import { linkPipelines, type PipelineLinks } from "./links.ts";
import { entityKey, sourceRelation } from "./names.ts";
import { buildNodes } from "./nodes.ts";
import { type PipelineQuery, queryOf } from "./query.ts";
import { reservedInCheck, reservedInPipeline } from "./reserved.ts";
import { checkSemantics } from "./semantics/check.ts";
import type { QueryTree } from "./statements.ts";

export type BuildOptions = {
  /** Whether SQL is read: without it there are no read hints, and reserved relations go unseen. */
  readonly inspectSql: boolean;
};

/** Builds the ordered DAG of rendered pipelines, or returns every independent problem. */
export async function buildDag(
  project: Project,
  rendered: readonly RenderedPipeline[],
  options: BuildOptions,
): Promise<Outcome<CompiledDag>> {
  const errors: PzError[] = [];
  const queries = new Map<string, PipelineQuery>();
  for (const pipeline of rendered) {
    const query = queryOf(pipeline);
    if ("sql" in query) queries.set(pipeline.pipeline.name, query);
    else errors.push(...query);
  }
  if (errors.length > 0) return fail(errors);
  const { links, errors: linkErrors } = linkPipelines(project, queries);
  const read = sourceEntities(project, queries.values(), links);
  const written = sinkEntities(project, links);
  const semantics = checkSemantics(project, read.sources, written.sinks, links);
  errors.push(...linkErrors, ...read.errors, ...written.errors, ...semantics.errors);
  if (errors.length > 0) return fail(errors);
  const { sources } = semantics;
  await using inspector = new SqlInspector();
  const trees = options.inspectSql ? await pipelineTrees(inspector, links) : new Map<string, QueryTree>();
  const hints = options.inspectSql ? readHints(sources, links, trees) : new Map<string, ReadHints>();
  const nodes = buildNodes({ project, links, sources, sinks: written.sinks, hints });
  if (options.inspectSql) errors.push(...await reserved(inspector, nodes, links, trees));
  return errors.length > 0 ? fail(errors) : succeed({ project, nodes }, deadLeaves(queries, links), semantics.notices);
}

async function pipelineTrees(
  inspector: SqlInspector,
  links: readonly PipelineLinks[],
): Promise<ReadonlyMap<string, QueryTree>> {
  const trees = new Map<string, QueryTree>();
  for (const { query, executed } of links) {
    const tree = await inspector.tree(executed.sql);
    if (tree !== undefined) trees.set(query.rendered.pipeline.name, tree);
  }
  return trees;
}

/** What each source's connector may leave out, by entity key. */
function readHints(
  sources: readonly SourceEntity[],
  links: readonly PipelineLinks[],
  trees: ReadonlyMap<string, QueryTree>,
): ReadonlyMap<string, ReadHints> {
  const byKey = new Map(sources.map((source) => [entityKey(source.connection.name, source.entity), source]));
  const uses = new Map<SourceEntity, SourceUse[]>();
  for (const link of links) {
    const own = link.sources.flatMap((call) => byKey.get(entityKey(call.connection, call.entity)) ?? []);
    const found = usesOf(trees.get(link.query.rendered.pipeline.name), own);
    for (const source of own) {
      const use = found.get(source.relation.toLowerCase());
      if (use !== undefined) uses.set(source, [...(uses.get(source) ?? []), use]);
    }
  }
  const hints = new Map<string, ReadHints>();
  for (const [key, source] of byKey) {
    const hint = hintsFor(source, uses.get(source) ?? []);
    if (hint !== undefined) hints.set(key, hint);
  }
  return hints;
}

async function reserved(
  inspector: SqlInspector,
  nodes: readonly DagNode[],
  links: readonly PipelineLinks[],
  trees: ReadonlyMap<string, QueryTree>,
): Promise<readonly PzError[]> {
  const errors: PzError[] = [];
  const called = new Map(links.map((link) => [link.query.rendered.pipeline.name, calledRelations(link)]));
  for (const node of nodes) {
    if (node.kind === "Pipeline") {
      const tree = trees.get(node.name);
      if (tree !== undefined) errors.push(...reservedInPipeline(node, tree, called.get(node.name) ?? new Set(), nodes));
    } else if (node.kind === "Check" && node.check.sql !== undefined) {
      const tree = await inspector.tree(node.check.sql);
      if (tree !== undefined) errors.push(...reservedInCheck(node, tree));
    }
  }
  return errors;
}

/** The relations that a pipeline's calls stand for, `this` included, in lower case. */
function calledRelations({ query, refs, sources }: PipelineLinks): ReadonlySet<string> {
  return new Set(
    [
      query.rendered.pipeline.name,
      ...refs,
      ...sources.map((source) => sourceRelation(source.connection, source.entity)),
    ].map((name) => name.toLowerCase()),
  );
}

/** PZ0223 for every pipeline that nothing consumes. */
function deadLeaves(
  queries: ReadonlyMap<string, PipelineQuery>,
  links: readonly PipelineLinks[],
): readonly PzError[] {
  const consumed = new Set<string>();
  for (const query of queries.values()) for (const ref of query.rendered.refs) consumed.add(ref.pipeline);
  for (const { query } of links) {
    const { pipeline, sinks } = query.rendered;
    if (sinks.length > 0 || pipeline.checks.length > 0) consumed.add(pipeline.name);
  }
  return [...queries.values()]
    .map(({ rendered }) => rendered.pipeline)
    .filter(({ name }) => !consumed.has(name))
    .map(({ name, file }) =>
      new PzError("PZ0223", `nothing uses pipeline '${name}': no sink(), no ref() and no check`, {
        file,
        hint: "load it with `INSERT INTO {{ sink(…) }}`, ref it, or delete the file",
      })
    );
}
