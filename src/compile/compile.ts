import { fail, type Outcome, PzError, succeed } from "../errors/mod.ts";
import type { Project } from "../project/mod.ts";
import { type RenderedPipeline, renderPipeline } from "../template/mod.ts";
import type { CompiledDag } from "./dag.ts";
import { buildDag } from "./build_dag.ts";
import { Workbench } from "./workbench.ts";

export type CompileOptions = {
  readonly runId: string;
  readonly runStartedAt: string;
  readonly env: { readonly [name: string]: string };
  /**
   * Whether DuckDB reads the SQL; default true. Without it DuckDB is not loaded, loads have no read hints (and other ids
   * than with them), and reserved relations in SQL go unseen.
   */
  readonly inspectSql?: boolean;
  /** Whether a connector has the strategy merge; undefined: each has. */
  readonly canMerge?: (connector: string) => boolean;
  /** Where DuckDB reads it; undefined: in one of its own. */
  readonly workbench?: Workbench;
};

/** Phase 2: renders every pipeline and builds the ordered DAG, or returns every independent problem. */
export async function compileProject(project: Project, options: CompileOptions): Promise<Outcome<CompiledDag>> {
  const warnings: PzError[] = [];
  const notices: string[] = [];
  const errors: PzError[] = [];
  const rendered: RenderedPipeline[] = [];
  const { runId, runStartedAt, env } = options;
  const ephemerals = new Set(
    project.pipelines.filter(({ materialization }) => materialization === "ephemeral").map(({ name }) => name),
  );
  for (const pipeline of project.pipelines) {
    const outcome = renderPipeline(pipeline, { project, ephemerals, runId, runStartedAt, env });
    if (outcome.ok) {
      rendered.push(outcome.value);
      warnings.push(...outcome.warnings);
      notices.push(...outcome.notices);
    } else errors.push(...outcome.errors);
  }
  if (errors.length > 0) return fail(errors);
  await using own = new Workbench();
  const workbench = options.inspectSql === false ? undefined : options.workbench ?? own;
  const built = await buildDag(project, rendered, { workbench, canMerge: options.canMerge });
  return built.ok ? succeed(built.value, [...warnings, ...built.warnings], [...notices, ...built.notices]) : built;
}
