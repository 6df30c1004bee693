import { connectionsSchema } from "./connections_file.ts";
import { projectSchema } from "./project_file.ts";
import type { JsonSchema } from "./shapes.ts";
import { sidecarSchema } from "./sidecar.ts";

const DIALECT = "https://json-schema.org/draft/2020-12/schema";

/** The JSON Schemas of the YAML files, made of the same definitions that loading checks them by. */
export function jsonSchemas(): {
  readonly project: JsonSchema;
  readonly connections: JsonSchema;
  readonly sidecar: JsonSchema;
} {
  return {
    project: { $schema: DIALECT, title: "project.yml", ...projectSchema() },
    connections: { $schema: DIALECT, title: "connections.yml", ...connectionsSchema() },
    sidecar: { $schema: DIALECT, title: "pipelines/configs/*.yml", ...sidecarSchema() },
  };
}
