import { Context, type Liquid } from "liquidjs";
import { stagingRelation, Styled } from "./literal.ts";
import type { Rendering } from "./rendering.ts";

/** The names that a template may use beside those it assigns. */
export const CONSTANTS: readonly string[] = ["this", "run_id", "run_started_at"];

/** Liquid's context for one rendering of one pipeline. */
export class PipelineContext extends Context {
  constructor(readonly rendering: Rendering, liquid: Liquid) {
    super(constantsOf(rendering), liquid.options, { sync: true }, { liquid });
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
