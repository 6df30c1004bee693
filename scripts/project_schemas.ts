/**
 * Writes the JSON Schemas of the YAML files of a project and of a connector's manifest, which editors complete and check by.
 *
 *     deno run --allow-read --allow-write scripts/project_schemas.ts
 */
import { join } from "node:path";
import { manifestSchema } from "../src/connectors/packages/manifest_schema.ts";
import { jsonSchemas } from "../src/project/mod.ts";

/** The text of each schema's file, by its path from the project's folder. */
export function schemaFiles(): ReadonlyMap<string, string> {
  const { project, connections, sidecar } = jsonSchemas();
  const files = { project, connections, pipeline: sidecar, connector: manifestSchema() };
  return new Map(
    Object.entries(files).map(([name, schema]) => [
      `fixtures/schemas/${name}.schema.json`,
      `${JSON.stringify(schema, undefined, 2)}\n`,
    ]),
  );
}

if (import.meta.main) {
  const root = join(import.meta.dirname ?? ".", "..");
  for (const [path, text] of schemaFiles()) await Deno.writeTextFile(join(root, path), text);
}
