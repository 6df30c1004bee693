import { join } from "node:path";
import { type CompiledDag, compiledFiles, manifestJson } from "../compile/mod.ts";
import { type Plan, planJson } from "../plan/mod.ts";
import { makeFolder, targetPaths } from "../state/mod.ts";
import { writeFileAtomically, writeFilesAtomically } from "../util/mod.ts";

/** Writes `.pz/target/manifest.json`; each file is replaced as one step, so that runs side by side never mix. */
export function writeManifest(dag: CompiledDag): void {
  const paths = targetPaths(dag.project.root);
  makeFolder(paths.folder);
  writeFileAtomically(paths.manifest, manifestJson(dag));
}

/** Writes `.pz/target/compiled/<pipeline>.sql` for each pipeline. */
export function writeCompiled(dag: CompiledDag): void {
  const paths = targetPaths(dag.project.root);
  makeFolder(paths.compiled);
  const files = compiledFiles(dag).map(({ pipeline, text }) => [`${pipeline}.sql`, text] as const);
  writeFilesAtomically(paths.compiled, files);
}

/** Writes `.pz/target/schemas.json`: the columns of each dataset without a contract, as they were found. */
export function writeSchemas(
  dag: CompiledDag,
  schemas:
    readonly (readonly [dataset: string, columns: readonly { readonly name: string; readonly type: string }[]])[],
): void {
  const { folder } = targetPaths(dag.project.root);
  makeFolder(folder);
  const members = schemas.map(([dataset, columns]) =>
    [dataset, { columns: columns.map(({ name, type }) => ({ name, type })) }] as const
  );
  const text = JSON.stringify({ version: 1, schemas: Object.fromEntries(members) }, null, 2);
  writeFileAtomically(join(folder, "schemas.json"), `${text}\n`);
}

/** Writes `.pz/target/plan.json`, which always covers the whole project. */
export function writePlan(dag: CompiledDag, plan: Plan): void {
  const paths = targetPaths(dag.project.root);
  makeFolder(paths.folder);
  writeFileAtomically(paths.plan, planJson(plan));
}
