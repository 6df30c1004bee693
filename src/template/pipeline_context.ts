import { Context, type Liquid } from "liquidjs";
import { stagingRelation, Styled } from "./literal.ts";
import type { Rendering } from "./rendering.ts";

/** The names that a template may use beside those it assigns. */
export const CONSTANTS: readonly string[] = ["this", "run_id", "run_started_at"];

/** What one rendering may use. */
export type Limits = {
  readonly milliseconds: number;
  /** Members of lists and characters of texts that filters and ranges may make. */
  readonly memory: number;
};

/** Liquid's context for one rendering of one pipeline. */
export class PipelineContext extends Context {
  constructor(readonly rendering: Rendering, liquid: Liquid, limits: Limits) {
    const options = { sync: true, renderLimit: limits.milliseconds, memoryLimit: limits.memory };
    super(constantsOf(rendering), liquid.options, options, { liquid });
  }
}

function constantsOf(rendering: Rendering): object {
  const { pipeline, context } = rendering;
  const names: object = Object.create(null);
  const define = (name: string, get: () => unknown) => Object.defineProperty(names, name, { enumerable: true, get });
  define("this", () => new Styled("relation", stagingRelation(pipeline.name)));
  define("run_id", () => rendering.addIdentity("run_id", context.runId));
  define("run_started_at", () => rendering.addIdentity("run_started_at", context.runStartedAt));
  return names;
}
