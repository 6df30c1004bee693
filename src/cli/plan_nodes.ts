import type { CompiledDag } from "../compile/mod.ts";
import { findConnector, systemLayer } from "../connectors/mod.ts";
import { machineLimits } from "../duckdb/mod.ts";
import type { Outcome, PzError } from "../errors/mod.ts";
import { type Plan, planRun } from "../plan/mod.ts";
import { checkOptions } from "./option_check.ts";
import { checkConnectors } from "./restore_check.ts";

/** Phase 4: what stands against the connectors of these nodes, and against options that nobody reads. */
export function checkUse(dag: CompiledDag, effective: ReadonlySet<string>): readonly PzError[] {
  return [...checkConnectors(dag, effective), ...checkOptions(dag, effective)];
}

/** Phase 5: how these nodes, which `checkUse` let pass, will be done on this machine. */
export async function planNodes(dag: CompiledDag, effective: ReadonlySet<string>): Promise<Outcome<Plan>> {
  return planRun(dag, { effective, findConnector, machine: await machineLimits(), systemLayer: systemLayer() });
}
