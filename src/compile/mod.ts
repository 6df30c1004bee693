export * from "./dag.ts";
export { type CompileOptions, compileProject } from "./compile.ts";
export { dryCompile, type DryCompileOptions, type SourceScan } from "./dry_compile.ts";
export { type Flow, flowsOf } from "./flows.ts";
export { selectNodes, withAncestors } from "./select.ts";
export { type CompiledFile, compiledFiles, kindName, kindRank, manifestJson } from "./manifest.ts";
export { Workbench } from "./workbench.ts";
export { ContractTypes } from "./contract_columns.ts";
