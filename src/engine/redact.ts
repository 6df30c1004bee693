import { findConnector } from "../connectors/mod.ts";
import type { Project, ValueMap } from "../project/mod.ts";
import { secretTexts } from "../util/mod.ts";

/**
 * What must not be shown of a project: values whose keys say that they are secret, and those of environment variables,
 * except where a variable fills nothing but settings that are never secret, such as a connection's folder.
 */
export function projectSecrets({ connections, secrets = [] }: Pick<Project, "connections" | "secrets">): string[] {
  const plain: string[] = [];
  const others: string[] = [];
  for (const { connector, config } of Object.values(connections)) {
    const found = findConnector(connector);
    const names = found === undefined || found === "planned" ? [] : found.plainOptions ?? [];
    for (const [key, value] of Object.entries(config)) (names.includes(key) ? plain : others).push(...textsOf(value));
  }
  const holds = (texts: readonly string[], part: string) => texts.some((text) => text.includes(part));
  return [
    ...secrets.filter((secret) => !holds(plain, secret) || holds(others, secret)),
    ...Object.values(connections).flatMap(({ config }) => secretTexts(config)),
  ];
}

function textsOf(value: ValueMap[string]): readonly string[] {
  if (typeof value !== "object" || value === null) return [String(value)];
  return Object.values(value).flatMap(textsOf);
}
