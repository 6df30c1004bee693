import type { CompiledDag } from "../compile/mod.ts";
import { type ConnectorSet, systemLayer } from "../connectors/mod.ts";
import { machineLimits } from "../duckdb/mod.ts";
import { maskFor } from "../engine/mod.ts";
import { type Outcome, PzError } from "../errors/mod.ts";
import { type Plan, planRun } from "../plan/mod.ts";
import { checkOptions } from "./option_check.ts";
import { checkConnectors } from "./restore_check.ts";

/** Phase 4: what stands against the connectors of these nodes, and against options that nobody reads. */
export function checkUse(
  dag: CompiledDag,
  effective: ReadonlySet<string>,
  connectors: ConnectorSet,
): readonly PzError[] {
  return [...checkConnectors(dag, effective, connectors), ...checkOptions(dag, effective, connectors)];
}

/** What a connector says of a setting or option that can't be as it is. */
const BAD_OPTION = "PZ0301";

/**
 * Phase 5: how these nodes, which `checkUse` let pass, will be done on this machine. A complaint may quote a setting that
 * was filled in from a variable: it is masked where the setting can be secret, and always where it is no good, since a
 * wrong variable could hold anything.
 */
export async function planNodes(
  dag: CompiledDag,
  effective: ReadonlySet<string>,
  connectors: ConnectorSet,
): Promise<Outcome<Plan>> {
  const machine = await machineLimits();
  const planned = planRun(dag, { effective, findConnector: connectors.find, machine, systemLayer: systemLayer() });
  const usual = maskFor(dag, false, connectors.find);
  const strict = maskFor(dag, true, connectors.find);
  const masked = ({ code, message, file, line, column, hint }: PzError) => {
    const mask = code === BAD_OPTION ? strict : usual;
    return new PzError(code, mask(message), { file, line, column, hint: hint === undefined ? undefined : mask(hint) });
  };
  if (!planned.ok) return { ...planned, errors: planned.errors.map(masked) };
  return { ...planned, warnings: planned.warnings.map(masked) };
}
