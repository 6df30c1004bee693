export * from "./plan.ts";
export { type PlanOptions, planRun } from "./plan_run.ts";
export { planJson } from "./plan_json.ts";
