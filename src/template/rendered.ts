import type { PipelineFile, Project, ReadBlock, SourcePosition, ValueMap, WriteBlock } from "../project/mod.ts";

export type CallValue = ValueMap[string];

/** What a template may see beyond its own file. */
export type RenderContext = {
  readonly project: Project;
  /** Names of the project's ephemeral pipelines. */
  readonly ephemerals: ReadonlySet<string>;
  readonly runId: string;
  /** ISO 8601, one value for a run. */
  readonly runStartedAt: string;
  readonly env: { readonly [name: string]: string };
};

/** `source(connection, entity, …)`; `read` holds the named arguments, undefined when there were none. */
export type SourceCall = {
  readonly connection: string;
  readonly entity: string;
  readonly read: ReadBlock | undefined;
  readonly position: SourcePosition;
};

/** `sink(connection, entity, …)`; `write` holds the named arguments, undefined when there were none. */
export type SinkCall = {
  readonly connection: string;
  readonly entity: string;
  readonly write: WriteBlock | undefined;
  /** The text that stands for this call in the rendered SQL: `__pz_sink__<connection>__<entity>__`. */
  readonly marker: string;
  readonly position: SourcePosition;
};

export type RefCall = { readonly pipeline: string; readonly position: SourcePosition };

/** `watermark(connection, entity)`. */
export type WatermarkCall = {
  readonly connection: string;
  readonly entity: string;
  /** The text whose SQL literal stands for this call in the rendered SQL: `__pz_watermark__<connection>__<entity>`. */
  readonly sentinel: string;
  readonly position: SourcePosition;
};

/** Takes an offset in the rendered SQL (UTF-16) to its place in the template. */
export type SegmentMap = { positionAt(offset: number): SourcePosition };

/**
 * A pipeline's SQL as DuckDB gets it, markers of sinks still in it, and every call that fired while rendering, in the
 * order of the SQL; a call that fired twice stands here twice.
 */
export type RenderedPipeline = {
  readonly pipeline: PipelineFile;
  readonly sql: string;
  readonly sources: readonly SourceCall[];
  readonly refs: readonly RefCall[];
  readonly sinks: readonly SinkCall[];
  readonly watermarks: readonly WatermarkCall[];
  readonly map: SegmentMap;
  /** Whether `run_id` or `run_started_at` stands in the SQL. */
  readonly usesRunIdentity: boolean;
  /** `sql` as it is hashed: `run_id` and `run_started_at` as fixed texts, values of `env()` as their SHA-256. */
  readonly identitySql: string;
  /** `sql` as artifacts show it: values of `env()` as `***`. */
  readonly shownSql: string;
  /** Texts (values of `env()`, and what filters made of them) that artifacts must show masked in arguments too. */
  readonly secrets: readonly string[];
};
