import { findConnector } from "../connectors/mod.ts";
import type { Project, ValueMap } from "../project/mod.ts";

const SECRET_KEY_REGEXP =
  /pass|pwd|secret|token|api_?key|access_?key|private|credential|authorization|connection_?string|dsn|sas|signature/i;

/** The values of a connection's settings whose keys say that they are secret, however deep they stand. */
export function secretValues(config: ValueMap): readonly string[] {
  const secrets: string[] = [];
  const visit = (value: ValueMap[string], secret: boolean) => {
    if (typeof value === "string") {
      if (secret) secrets.push(value);
    } else if (typeof value === "number" || typeof value === "bigint") {
      if (secret) secrets.push(String(value));
    } else if (typeof value === "object" && value !== null) {
      for (const [key, member] of Object.entries(value)) visit(member, secret || SECRET_KEY_REGEXP.test(key));
    }
  };
  visit(config, false);
  return secrets;
}

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
    ...Object.values(connections).flatMap(({ config }) => secretValues(config)),
  ];
}

function textsOf(value: ValueMap[string]): readonly string[] {
  if (typeof value !== "object" || value === null) return [String(value)];
  return Object.values(value).flatMap(textsOf);
}
