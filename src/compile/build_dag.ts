import { fail, type Outcome, PzError, succeed } from "../errors/mod.ts";
import type { Project } from "../project/mod.ts";
import type { RenderedPipeline } from "../template/mod.ts";
import type { CompiledDag, DagNode, ReadHints } from "./dag.ts";
import { sinkEntities, sourceEntities, type SourceEntity } from "./entities.ts";
import { hintsFor, usesOf } from "./hints/read_hints.ts";
import type { SourceUse } from "./hints/source_use.ts";
import { linkPipelines, type PipelineLinks } from "./links.ts";
import { entityKey, sourceRelation } from "./names.ts";
import { buildNodes } from "./nodes.ts";
import { type PipelineQuery, queryOf } from "./query.ts";
import { mayNameReserved, reservedInCheck, reservedInPipeline } from "./reserved.ts";
import { checkSemantics } from "./semantics/check.ts";
import { type SqlWatermarks, sqlWatermarks } from "./semantics/watermark_bounds.ts";
import { type QueryTree, queryTrees } from "./statements.ts";
import type { Workbench } from "./workbench.ts";

export type BuildOptions = {
  /** Where SQL is read; undefined: it is not, so that there are no read hints, and reserved relations go unseen. */
  readonly workbench: Workbench | undefined;
  /** Whether a connector has the strategy merge; undefined: each has. */
  readonly canMerge?: ((connector: string) => boolean) | undefined;
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
  const semantics = checkSemantics(project, read.sources, written.sinks, links, options.canMerge ?? (() => true));
  errors.push(...linkErrors, ...read.errors, ...written.errors, ...semantics.errors);
  if (errors.length > 0) return fail(errors);
  const { sources } = semantics;
  const trees = await readSql(options.workbench, links);
  const hints = options.workbench === undefined ? new Map<string, ReadHints>() : readHints(sources, links, trees);
  const followed = await watermarks(options.workbench, links, trees, sources);
  const nodes = buildNodes({ project, links, sources, sinks: written.sinks, hints, watermarks: followed.byKey });
  errors.push(...reserved(nodes, links, trees), ...followed.errors);
  if (errors.length > 0) return fail(errors);
  return succeed({ project, nodes }, deadLeaves(queries, links), [...semantics.notices, ...followed.notices]);
}

/** DuckDB's trees of the SQL whose tree can matter: of pipelines by their names, and of checks by their texts. */
type Trees = { readonly pipelines: ReadonlyMap<string, QueryTree>; readonly checks: ReadonlyMap<string, QueryTree> };

async function readSql(workbench: Workbench | undefined, links: readonly PipelineLinks[]): Promise<Trees> {
  const pipelines = new Map<string, QueryTree>();
  const checks = new Map<string, QueryTree>();
  if (workbench === undefined) return { pipelines, checks };
  const wanted: { readonly sql: string; readonly key: string; readonly into: Map<string, QueryTree> }[] = [];
  for (const link of links) {
    const { name, checks: own } = link.query.rendered.pipeline;
    const { sql } = link.executed;
    if (link.sources.length > 0 || mayNameReserved(sql, calledRelations(link))) {
      wanted.push({ sql, key: name, into: pipelines });
    }
    const relation = new Set([name.toLowerCase()]);
    for (const { sql } of own) {
      if (sql !== undefined && mayNameReserved(sql, relation)) wanted.push({ sql, key: sql, into: checks });
    }
  }
  if (wanted.length === 0) return { pipelines, checks };
  const trees = await queryTrees(await workbench.connection(), wanted.map(({ sql }) => sql));
  for (const [index, { key, into }] of wanted.entries()) {
    const tree = trees[index];
    if (tree !== undefined) into.set(key, tree);
  }
  return { pipelines, checks };
}

async function watermarks(
  workbench: Workbench | undefined,
  links: readonly PipelineLinks[],
  { pipelines }: Trees,
  sources: readonly SourceEntity[],
): Promise<SqlWatermarks> {
  if (workbench === undefined) return { byKey: new Map(), errors: [], notices: [] };
  return await sqlWatermarks(() => workbench.connection(), links, pipelines, sources);
}

/** What each source's connector may leave out, by entity key. */
function readHints(
  sources: readonly SourceEntity[],
  links: readonly PipelineLinks[],
  { pipelines: trees }: Trees,
): ReadonlyMap<string, ReadHints> {
  const byKey = new Map(sources.map((source) => [entityKey(source.connection.name, source.entity), source]));
  const uses = new Map<SourceEntity, SourceUse[]>();
  for (const link of links) {
    const own = link.sources.flatMap((call) => byKey.get(entityKey(call.connection, call.entity)) ?? []);
    const found = usesOf(trees.get(link.query.rendered.pipeline.name), own);
    for (const source of own) {
      const use = found.get(source.relation.toLowerCase());
      if (use === undefined) continue;
      const others = uses.get(source);
      if (others === undefined) uses.set(source, [use]);
      else others.push(use);
    }
  }
  const hints = new Map<string, ReadHints>();
  for (const [key, source] of byKey) {
    const hint = hintsFor(source, uses.get(source) ?? []);
    if (hint !== undefined) hints.set(key, hint);
  }
  return hints;
}

function reserved(nodes: readonly DagNode[], links: readonly PipelineLinks[], trees: Trees): readonly PzError[] {
  const errors: PzError[] = [];
  const called = new Map(links.map((link) => [link.query.rendered.pipeline.name, calledRelations(link)]));
  for (const node of nodes) {
    if (node.kind === "Pipeline") {
      const tree = trees.pipelines.get(node.name);
      if (tree !== undefined) errors.push(...reservedInPipeline(node, tree, called.get(node.name) ?? new Set(), nodes));
    } else if (node.kind === "Check" && node.check.sql !== undefined) {
      const tree = trees.checks.get(node.check.sql);
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
