import type { RunContext } from "../run_context.ts";

/**
 * How many bytes of the run's budget one node may hold, so that one whose other side is slow leaves the rest of the
 * nodes that can run beside it their part.
 */
export function fairShare({ plan, project }: Pick<RunContext, "plan" | "project">): number {
  return Math.floor(plan.memoryBudget.channelBytes / project.engine.threads);
}
