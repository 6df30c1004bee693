export * from "./plan.ts";
export { type FindConnector, type PlanOptions, planRun } from "./plan_run.ts";
export { planJson } from "./plan_json.ts";
export { dryCompileScans } from "./dry_run.ts";
export { chainsOf } from "./chains.ts";
export { datasetSpec, outputSpec } from "./specs.ts";
