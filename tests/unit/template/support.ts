import assert from "node:assert/strict";
import { formatError, type Outcome } from "../../../src/errors/mod.ts";
import type { PipelineFile, Project, ValueMap } from "../../../src/project/mod.ts";
import { type RenderContext, type RenderedPipeline, renderPipeline } from "../../../src/template/mod.ts";

export type Setting = {
  readonly vars?: ValueMap;
  readonly env?: { readonly [name: string]: string };
  readonly ephemeral?: readonly string[];
  readonly runId?: string;
};

/** Renders a template as the pipeline `own` of a small project. */
export function render(template: string, setting: Setting = {}): Outcome<RenderedPipeline> {
  return renderPipeline(pipeline("own", template), contextOf(setting));
}

/** The rendered pipeline of a template that must render. */
export function rendered(template: string, setting: Setting = {}): RenderedPipeline {
  const outcome = render(template, setting);
  if (!outcome.ok) assert.fail(outcome.errors.map(formatError).join("\n"));
  return outcome.value;
}

/** The SQL of a template that must render. */
export function sqlOf(template: string, setting: Setting = {}): string {
  return rendered(template, setting).sql;
}

/** The problems of a template that must not render, as `code line:column message — hint`. */
export function problemsIn(template: string, setting: Setting = {}): string[] {
  const outcome = render(template, setting);
  if (outcome.ok) assert.fail(`rendered to: ${outcome.value.sql}`);
  return outcome.errors.map((error) => {
    assert.equal(error.file, "pipelines/own.sql");
    return `${error.code} ${error.line}:${error.column} ${error.message}${
      error.hint === undefined ? "" : ` — ${error.hint}`
    }`;
  });
}

/** What templates of a test see. */
export function contextOf(
  { vars = {}, env = {}, ephemeral = [], runId = "20260102T030405Z-abcd" }: Setting,
): RenderContext {
  const project = projectOf(vars, ephemeral);
  return { project, ephemerals: new Set(ephemeral), runId, runStartedAt: "2026-01-02T03:04:05.0000000Z", env };
}

/** A pipeline of a test's project. */
export function pipeline(name: string, template: string, ephemeral = false): PipelineFile {
  const materialization = ephemeral ? "ephemeral" : "table";
  return { name, file: `pipelines/${name}.sql`, template, materialization, tags: [], checks: [] };
}

function projectOf(vars: ValueMap, ephemeral: readonly string[]): Project {
  return {
    root: "/project",
    name: "test",
    version: "1",
    connectors: [],
    vars,
    engine: {
      threads: 1,
      forceUniversal: false,
      checkSamples: true,
      duckdb: {},
      staging: "auto",
      preserveOrder: false,
      sandbox: "auto",
    },
    keepLast: undefined,
    state: { backend: "local" },
    onSourceDrift: "ignore",
    connections: {},
    pipelines: ephemeral.map((name) => pipeline(name, "SELECT 1", true)),
  };
}
