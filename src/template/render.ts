import { Liquid, type Template, toValueSync } from "liquidjs";
import { fail, type Outcome, succeed } from "../errors/mod.ts";
import type { PipelineFile } from "../project/mod.ts";
import { SqlEmitter } from "./emitter.ts";
import { installFilters } from "./filters.ts";
import { PipelineParser } from "./parser.ts";
import { type Limits, PipelineContext } from "./pipeline_context.ts";
import { problemsOf } from "./problems.ts";
import type { RenderContext, RenderedPipeline } from "./rendered.ts";
import { Rendering } from "./rendering.ts";

const LIMITS: Limits = { milliseconds: 5_000, memory: 10_000_000 };

/** Made at first use, since making it costs more than rendering a template does. It keeps nothing of a rendering. */
let engine: Liquid | undefined;

/**
 * Renders one pipeline's template and records its calls, in their order. Opens no file and asks no clock. Every problem
 * carries the template's own line and column, and as many as can be found are told together: PZ0104 for the template,
 * PZ0201 and PZ0208 for a call to source(), ref() or sink() that has the wrong shape, PZ0103 for an environment variable
 * that is not set. Whether the pipelines and connections exist is for the caller to say.
 */
export function renderPipeline(pipeline: PipelineFile, context: RenderContext): Outcome<RenderedPipeline> {
  return renderWithin(LIMITS, pipeline, context);
}

/** Renders like `renderPipeline`, within other limits. */
export function renderWithin(
  limits: Limits,
  pipeline: PipelineFile,
  context: RenderContext,
): Outcome<RenderedPipeline> {
  engine ??= createEngine();
  const rendering = new Rendering(pipeline, context);
  const emitter = new SqlEmitter(rendering.identityTexts, rendering.shownTexts);
  const pieces = new PipelineParser(engine, rendering).read();
  if (pieces !== undefined) run(engine, limits, pieces, rendering, emitter);
  if (rendering.errors.length > 0) return fail(rendering.errors);
  return succeed({
    pipeline,
    sql: emitter.buffer,
    sources: rendering.sources,
    refs: rendering.refs,
    sinks: rendering.sinks,
    watermarks: rendering.watermarks,
    map: emitter.segments(rendering.positionAt),
    usesRunIdentity: rendering.usesRunIdentity,
    identitySql: emitter.identity,
    shownSql: emitter.shown,
    secrets: [...rendering.secrets],
  }, rendering.warnings);
}

function createEngine(): Liquid {
  const liquid = new Liquid({
    templates: {},
    strictVariables: true,
    strictFilters: true,
    ownPropertyOnly: true,
    catchAllErrors: true,
    dynamicPartials: false,
    // Without one it asks the system for its locale, which takes as long as rendering hundreds of templates.
    locale: "en-US",
  });
  installFilters(liquid);
  return liquid;
}

function run(liquid: Liquid, limits: Limits, pieces: Template[], rendering: Rendering, emitter: SqlEmitter): void {
  try {
    toValueSync(liquid.renderer.renderTemplates(pieces, new PipelineContext(rendering, liquid, limits), emitter));
  } catch (error) {
    for (const problem of problemsOf(error, 0, rendering)) rendering.report(problem);
  }
}
