import type { CompiledDag } from "../compile/mod.ts";
import { type ConnectorSet, findConnector } from "../connectors/mod.ts";
import type { Connection, Project, ValueMap } from "../project/mod.ts";
import { type Mask, maskOf, secretTexts } from "../util/mod.ts";

type FindConnector = ConnectorSet["find"];

/**
 * What must not be shown of a project: values whose keys say that they are secret, and those of environment variables,
 * except where variables fill nothing but settings that are never secret with it, such as a connection's folder or host.
 */
export function projectSecrets(
  { connections, secrets = [] }: Pick<Project, "connections" | "secrets">,
  find: FindConnector = findConnector,
): string[] {
  const plain = new Set<string>();
  const others = new Set<string>();
  for (const connection of Object.values(connections)) {
    const names = plainOptions(connection, find);
    for (const [key, texts] of Object.entries(connection.filled ?? {})) {
      for (const text of texts) (names.includes(key) ? plain : others).add(text);
    }
  }
  return [
    ...secrets.filter((secret) => !plain.has(secret) || others.has(secret)),
    ...Object.values(connections).flatMap(({ config }) => secretTexts(config)),
  ];
}

/**
 * Takes the secrets of a project and of its templates out of texts; the names that the user gave to things stay.
 *
 * @param strict whether every value of an environment variable counts as secret, whatever setting it fills
 * @param find where connectors are looked for; undefined: inside pz
 */
export function maskFor(
  { project, nodes }: Pick<CompiledDag, "project" | "nodes">,
  strict = false,
  find: FindConnector = findConnector,
): Mask {
  const secrets = [
    ...projectSecrets(project, find),
    ...nodes.flatMap((node) => node.kind === "Pipeline" ? node.secrets ?? [] : []),
    ...(strict ? project.secrets ?? [] : []),
  ];
  const names = [
    ...Object.values(project.connections).flatMap(({ name, entities }) => [name, ...Object.keys(entities)]),
    ...project.pipelines.flatMap(({ name, file }) => [name, file]),
    ...nodes.flatMap((node) => [node.name, ...("entity" in node ? [node.entity] : [])]),
  ];
  const plain = Object.values(project.connections).flatMap((connection) =>
    plainOptions(connection, find).flatMap((key) => textsOf(connection.config[key] ?? null))
  );
  return maskOf(secrets, undefined, { names, plain });
}

function plainOptions({ connector }: Connection, find: FindConnector): readonly string[] {
  const found = find(connector);
  return found === undefined || found === "planned" ? [] : found.plainOptions ?? [];
}

function textsOf(value: ValueMap[string]): readonly string[] {
  if (typeof value !== "object" || value === null) return [String(value)];
  return Object.values(value).flatMap(textsOf);
}
