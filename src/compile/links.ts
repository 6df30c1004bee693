import { PzError } from "../errors/mod.ts";
import type { PipelineFile, Project } from "../project/mod.ts";
import type { SourceCall } from "../template/mod.ts";
import { nearMiss, ordinal } from "../util/mod.ts";
import { findCycles } from "./cycles.ts";
import { inlineEphemerals, type MappedSql } from "./inline.ts";
import { entityKey } from "./names.ts";
import type { PipelineQuery } from "./query.ts";

/** What a pipeline that gets a node of its own depends on, with what its ephemerals depend on among it. */
export type PipelineLinks = {
  readonly query: PipelineQuery;
  /** Directly referenced ephemeral pipelines, in ordinal order. */
  readonly ephemerals: readonly PipelineQuery[];
  /** The query with its ephemerals inlined. */
  readonly executed: MappedSql;
  /** The same as artifacts show it. */
  readonly shownSql: string;
  /** Names of the pipelines with nodes that it reads, in ordinal order. */
  readonly refs: readonly string[];
  /** One call for each source that it reads, ordered by connection and entity. */
  readonly sources: readonly SourceCall[];
};

/** Finds what every pipeline reads; unresolved names (PZ0201), ephemeral chains (PZ0204) and checks on them (PZ0205). */
export function linkPipelines(
  project: Project,
  queries: ReadonlyMap<string, PipelineQuery>,
): { readonly links: readonly PipelineLinks[]; readonly errors: readonly PzError[] } {
  const errors: PzError[] = [];
  const pipelines = new Map(project.pipelines.map((pipeline) => [pipeline.name, pipeline]));
  for (const query of queries.values()) {
    errors.push(...unresolved(project, pipelines, query), ...ephemeralMisuse(pipelines, query));
  }
  errors.push(...cycleErrors(pipelines, queries));
  const links: PipelineLinks[] = [];
  for (const query of queries.values()) {
    if (query.rendered.pipeline.materialization !== "ephemeral") links.push(linksOf(pipelines, queries, query));
  }
  return { links, errors };
}

function linksOf(
  pipelines: ReadonlyMap<string, PipelineFile>,
  queries: ReadonlyMap<string, PipelineQuery>,
  query: PipelineQuery,
): PipelineLinks {
  const ephemerals = new Map<string, PipelineQuery>();
  for (const ref of query.rendered.refs) {
    const target = queries.get(ref.pipeline);
    if (target?.rendered.pipeline.materialization === "ephemeral") ephemerals.set(ref.pipeline, target);
  }
  const refs = new Set<string>();
  const sources = new Map<string, SourceCall>();
  for (const part of [query, ...ephemerals.values()]) {
    for (const { pipeline } of part.rendered.refs) {
      if (pipelines.get(pipeline)?.materialization !== "ephemeral") refs.add(pipeline);
    }
    for (const source of part.rendered.sources) {
      const key = entityKey(source.connection, source.entity);
      if (!sources.has(key)) sources.set(key, source);
    }
  }
  const inlined = byKey(ephemerals);
  return {
    query,
    ephemerals: inlined,
    executed: inlineEphemerals(query, inlined.map((part) => ({ ...part, name: part.rendered.pipeline.name }))),
    shownSql: inlineEphemerals(
      { sql: query.shownSql, map: query.map },
      inlined.map((part) => ({ sql: part.shownSql, map: part.map, name: part.rendered.pipeline.name })),
    ).sql,
    refs: [...refs].sort(ordinal),
    sources: byKey(sources),
  };
}

function byKey<T>(map: ReadonlyMap<string, T>): readonly T[] {
  return [...map].sort(([a], [b]) => ordinal(a, b)).map(([, value]) => value);
}

function unresolved(
  project: Project,
  pipelines: ReadonlyMap<string, PipelineFile>,
  query: PipelineQuery,
): readonly PzError[] {
  const errors: PzError[] = [];
  for (const ref of query.rendered.refs) {
    if (pipelines.has(ref.pipeline)) continue;
    errors.push(
      new PzError("PZ0201", `ref('${ref.pipeline}') names no pipeline`, {
        ...ref.position,
        hint: suggestion(ref.pipeline, [...pipelines.keys()], `add pipelines/${ref.pipeline}.sql`),
      }),
    );
  }
  const { sources, sinks } = query.rendered;
  for (const [verb, calls] of [["source", sources], ["sink", sinks]] as const) {
    for (const call of calls) {
      if (Object.hasOwn(project.connections, call.connection)) continue;
      errors.push(
        new PzError("PZ0201", `${verb}('${call.connection}', '${call.entity}') names no connection`, {
          ...call.position,
          hint: suggestion(
            call.connection,
            Object.keys(project.connections),
            `add '${call.connection}' to connections.yml`,
          ),
        }),
      );
    }
  }
  return errors;
}

/** A near miss as a hint, or else what to do. */
export function suggestion(word: string, candidates: readonly string[], otherwise: string): string {
  const meant = nearMiss(word, candidates);
  return meant === undefined ? otherwise : `did you mean '${meant}'?`;
}

function ephemeralMisuse(
  pipelines: ReadonlyMap<string, PipelineFile>,
  query: PipelineQuery,
): readonly PzError[] {
  const { pipeline, refs } = query.rendered;
  if (pipeline.materialization !== "ephemeral") return [];
  const errors: PzError[] = [];
  const check = pipeline.checks[0];
  if (check !== undefined) {
    errors.push(
      new PzError("PZ0205", `pipeline '${pipeline.name}' is ephemeral and can't have checks`, {
        ...check.position,
        hint: `set 'materialization: view' for '${pipeline.name}', or check a pipeline that refs it`,
      }),
    );
  }
  const chained = refs.find((ref) => pipelines.get(ref.pipeline)?.materialization === "ephemeral");
  if (chained !== undefined) {
    errors.push(
      new PzError("PZ0204", `ephemeral pipeline '${pipeline.name}' refs the ephemeral pipeline '${chained.pipeline}'`, {
        ...chained.position,
        hint: `set 'materialization: view' for one of the two`,
      }),
    );
  }
  return errors;
}

function cycleErrors(
  pipelines: ReadonlyMap<string, PipelineFile>,
  queries: ReadonlyMap<string, PipelineQuery>,
): readonly PzError[] {
  const readers = new Map<string, string[]>();
  const waiting = new Map<string, number>();
  const refsOf = (name: string) => [
    ...new Set((queries.get(name)?.rendered.refs ?? []).map((ref) => ref.pipeline).filter((ref) => pipelines.has(ref))),
  ];
  for (const name of queries.keys()) {
    const refs = refsOf(name);
    waiting.set(name, refs.length);
    for (const ref of refs) readers.set(ref, [...(readers.get(ref) ?? []), name]);
  }
  const free = [...queries.keys()].filter((name) => waiting.get(name) === 0);
  for (let name = free.pop(); name !== undefined; name = free.pop()) {
    for (const reader of readers.get(name) ?? []) {
      const left = (waiting.get(reader) ?? 0) - 1;
      waiting.set(reader, left);
      if (left === 0) free.push(reader);
    }
  }
  const stuck = [...queries.keys()].filter((name) => (waiting.get(name) ?? 0) > 0);
  return findCycles(stuck, refsOf).map((cycle) => {
    const [first = "", second = first] = cycle;
    const rendered = queries.get(first)?.rendered;
    const call = rendered?.refs.find((ref) => ref.pipeline === second);
    return new PzError("PZ0202", `dependency cycle: ${cycle.join(" -> ")}`, {
      ...(call?.position ?? { file: rendered?.pipeline.file }),
      hint: "remove one of these refs; a pipeline can't read its own result",
    });
  });
}
