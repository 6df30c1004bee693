import type { CompiledDag, DryCompileOptions, SourceLoadNode, SourceScan } from "../compile/mod.ts";
import type { FindConnector } from "./plan_run.ts";
import { datasetSpec } from "./specs.ts";

/** What lets the dry compile look into the files of sources without a contract: how to read each, and what that opens. */
export function dryCompileScans(dag: CompiledDag, findConnector: FindConnector): DryCompileOptions {
  const context = { projectRoot: dag.project.root };
  const scans = new Map<SourceLoadNode, SourceScan>();
  const files = new Set<string>();
  const folders = new Set<string>();
  for (const node of dag.nodes) {
    if (node.kind !== "SourceLoad" || node.columns !== undefined) continue;
    const connector = findConnector(node.connection.connector);
    if (connector === undefined || connector === "planned") continue;
    const outcome = connector.nativeScan(datasetSpec(node), context);
    if (outcome?.ok !== true) continue;
    scans.set(node, outcome.value);
    for (const file of outcome.value.reads?.files ?? []) files.add(file);
    for (const folder of outcome.value.reads?.folders ?? []) folders.add(folder);
    for (const path of connector.grant(node.connection.config, context).read) folders.add(path);
  }
  return { scanOf: (node) => scans.get(node), allowedPaths: { files: [...files], folders: [...folders] } };
}
